"""The numbers among the settings: read once, at the start, or refused in one sentence."""

from __future__ import annotations

import math
import os
from urllib.parse import unquote

from tapestry.core.errors import TapestryError
from tapestry.core.message import check_audience

RETENTION = "TAPESTRY_RETENTION"
"""How many days mail is kept, by audience: ``user:terry=365 group:Human%20Resources=90``."""

LONGEST = 18
"""Digits of a number, at most: a database stores what has no more."""

MOST_DAYS = 36_500
"""A larger number is taken for a typing error."""


def seconds(name: str, default: float) -> float:
    """Return the seconds that a variable of the environment says; TapestryError if it says none.

    >>> seconds("TAPESTRY_UNSET", 2.5)
    2.5
    """
    text = os.environ.get(name, "").strip()
    try:
        number = float(text or default)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise TapestryError(
            f"{name} is “{text}”, which is no number of seconds.",
            hint=f"Write a number above 0; without it, it is {default:g}.",
        )
    return number


def whole_number(name: str, default: int) -> int:
    """Return the whole number, 0 or more, that a variable of the environment says.

    Raise TapestryError if it says none.

    >>> whole_number("TAPESTRY_UNSET", 3)
    3
    """
    text = os.environ.get(name, "").strip() or str(default)
    if not is_whole(text):
        raise TapestryError(
            f"{name} is “{text[:LONGEST]}”, which is no whole number.",
            hint=f"Write at most {LONGEST} digits; without it, it is {default}.",
        )
    return int(text)


def is_whole(text: str) -> bool:
    """Return whether a text is digits alone, and not more than any number here has."""
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST


def read_retention(text: str) -> dict[str, int]:
    """Return for how many days each audience's mail is kept, where that is limited.

    Raise TapestryError if the text does not say that.

    >>> read_retention("user:terry=365 group:Human%20Resources=90")
    {'user:terry': 365, 'group:Human Resources': 90}
    """
    kept: dict[str, int] = {}
    for rule in text.split():
        name, _, days = rule.rpartition("=")
        if not (is_whole(days) and 1 <= int(days) <= MOST_DAYS):
            raise TapestryError(
                f"{RETENTION} holds “{rule[:100]}”, which says no number of days.",
                hint="Write user:terry=365 public=3650; %20 for a blank in a name.",
            )
        kept[read_audience(RETENTION, name)] = int(days)
    return kept


def read_audience(setting: str, text: str) -> str:
    """Return the audience that a rule of a setting names; TapestryError if it is none."""
    audience = unquote(text)
    try:
        check_audience(audience)
    except TapestryError as error:
        raise TapestryError(f"{setting}: {error.message}", hint=error.hint) from error
    return audience
