"""TAPESTRY_BUDGETS: what a person may use; for everybody, for the members of a group, for one."""

from __future__ import annotations

from collections.abc import Mapping

from filters.site.settings.numbers import is_whole, read_audience
from tapestry.core.errors import TapestryError

BUDGETS = "TAPESTRY_BUDGETS"

EVERYBODY = ""
"""For whom a budget is that names nobody."""

KINDS: Mapping[str, tuple[int, str]] = {
    "filters": (5_000, "filters"),
    "aggregates": (200, "aggregates of your own"),
    "sources": (50, "sources"),
    "destinations": (50, "destinations"),
    "tokens": (50, "access tokens"),
    "drafts": (500, "drafts"),
    "bytes": (1 << 30, "bytes in files of drafts, and in uploads of programs"),
    "seconds": (600, "seconds of this hour, by filters that run by themselves"),
    "deliveries": (1_000, "deliveries in 24 hours, to the destination that had most"),
}
"""What a person may use of each kind, unless the operator says otherwise, and what that is."""

Budgets = Mapping[str, Mapping[str, int]]
"""Budgets by kind, by the audience whose readers have them, or ``EVERYBODY``."""


def read_budgets(text: str) -> Budgets:
    """Return the budgets that a text sets, with the defaults; raise TapestryError if it sets none.

    >>> read_budgets("seconds=60 group:Human%20Resources:filters=9")["group:Human Resources"]
    {'filters': 9}
    """
    budgets = {EVERYBODY: {kind: usual for kind, (usual, _) in KINDS.items()}}
    for rule in text.split():
        named, _, number = rule.rpartition("=")
        whose, _, kind = named.rpartition(":")
        if kind not in KINDS or not is_whole(number):
            raise TapestryError(
                f"{BUDGETS} holds “{rule[:100]}”, which is no budget.",
                hint="Write filters=100 user:terry:seconds=60; the kinds of budgets are "
                f"{', '.join(KINDS)}.",
            )
        audience = read_audience(BUDGETS, whose) if whose else EVERYBODY
        budgets.setdefault(audience, {})[kind] = int(number)
    return budgets
