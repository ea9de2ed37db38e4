"""TAPESTRY_BUDGETS: what a person may use; for everybody, for the members of a group, for one."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from filters.site.settings.numbers import is_whole
from tapestry.core.errors import TapestryError
from tapestry.core.message import check_audience

EVERYBODY = ""
"""For whom a budget is that names nobody."""

DEFAULTS: Mapping[str, int] = {
    "filters": 5_000,
    "aggregates": 200,
    "sources": 50,
    "destinations": 50,
    "tokens": 50,
    "drafts": 500,
    "bytes": 1 << 30,
    "seconds": 600,
    "deliveries": 1_000,
}
"""How many of each; ``bytes`` of files beside drafts and of uploads, ``seconds`` an hour of filters
that run by themselves, ``deliveries`` a day to each destination."""

Budgets = Mapping[str, Mapping[str, int]]
"""Budgets by kind, by the audience whose readers have them, or ``EVERYBODY``."""


def read_budgets(text: str) -> Budgets:
    """Return the budgets that a text sets, with the defaults; raise TapestryError if it sets none.

    >>> read_budgets("seconds=60 group:Human%20Resources:filters=9")["group:Human Resources"]
    {'filters': 9}
    """
    budgets = {EVERYBODY: dict(DEFAULTS)}
    for rule in text.split():
        named, _, number = rule.rpartition("=")
        whose, _, kind = named.rpartition(":")
        whose = unquote(whose)
        if kind not in DEFAULTS or not is_whole(number):
            raise TapestryError(
                f"TAPESTRY_BUDGETS holds “{rule[:100]}”, which is no budget.",
                hint="Write filters=100 user:terry:seconds=60; the kinds of budgets are "
                f"{', '.join(DEFAULTS)}.",
            )
        if whose:
            try:
                check_audience(whose)
            except TapestryError as error:
                raise TapestryError(
                    f"TAPESTRY_BUDGETS: {error.message}", hint=error.hint
                ) from error
        budgets.setdefault(whose, {})[kind] = int(number)
    return budgets
