"""What people of a world may use: in every other world, small budgets, by its seed."""

from __future__ import annotations

import random

OFTEN = 0.55
"""How likely a world has budgets."""

WHOSE = ("", "", "user:alice:", "user:bob:", "group:x:")
"""For whom a budget is: for everybody, for one person, or for each of a group."""

SMALL = {"deliveries": (0, 1, 2, 4), "seconds": (0, 0, 1, 3), "filters": (12, 18, 24)}
"""Budgets that a world meets: in 24 hours of a destination, in an hour, and of all."""

STATEMENT = 0.2
"""Seconds that a statement takes where seconds are counted: else it takes none."""


def budgets_of(seed: int) -> str:
    """Return the budgets of a world as TAPESTRY_BUDGETS has them, drawn from lots of their own.

    >>> budgets_of(4), budgets_of(16)
    ('', 'deliveries=4 filters=24')
    """
    lots = random.Random(f"{seed} budgets")
    if lots.random() >= OFTEN:
        return ""
    kinds = lots.sample(sorted(SMALL), lots.choice((1, 2, 3)))
    rules = {f"{lots.choice(WHOSE)}{kind}": lots.choice(SMALL[kind]) for kind in (*kinds, *kinds)}
    return " ".join(f"{named}={number}" for named, number in sorted(rules.items()))
