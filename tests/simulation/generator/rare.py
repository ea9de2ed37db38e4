"""Draw what a world has had least of: so that in few worlds all meets all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, TypeVar

Drawn = TypeVar("Drawn")

TRIES = 60
"""Draws, of which the rarest is taken."""


def rarest(
    used: Counter[Any],
    draw: Callable[[], Drawn],
    marks: Callable[[Drawn], Collection[Any]],
) -> Drawn:
    """Return the one of some draws that has most marks that were used little, and count its marks.

    >>> used, numbers = Counter({1: 2, 2: 1, 3: 5}), iter([1, 2, 3] * 20)
    >>> rarest(used, lambda: next(numbers), lambda number: (number,)), used[2]
    (2, 2)
    """
    draws = [draw() for _ in range(TRIES)]
    chosen = max(draws, key=lambda drawn: sum(4.0 ** -used[mark] for mark in marks(drawn)))
    used.update(marks(chosen))
    return chosen
