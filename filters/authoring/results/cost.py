"""What of its owner's budget a filter is expected to take, said before and as it is saved."""

from __future__ import annotations

from statistics import fmean

from filters.authoring.models import Filter
from filters.authoring.results.weeks import Weeks, rate_of
from filters.people import people
from filters.people.budgets import budget, used
from filters.people.models import User
from tapestry.core.errors import TapestryError

LOOKED_AT = 20
"""Filters, the newest that were measured, with which a new one is compared."""


def cost_words(user: User, mode: str, weeks: Weeks = (), seconds: float = 0.0) -> str:
    """Say what a filter takes, and what is left, "" if that is nothing worth a word.

    ``weeks`` are as a preview counts them.
    ``seconds`` are what it takes when it is run by itself, 0 if that is not known.
    """
    most, words = budget(user, "deliveries"), ""
    if weeks and rate_of(weeks) > 7 * most:
        words = f"What is more than {most:,} deliveries a day to a place comes hourly. "
    if mode == Filter.Mode.KEEP:  # it runs together with others, which takes nobody's seconds
        return words.rstrip()
    most = budget(user, "seconds")
    took = f", about {seconds:.1f} seconds each time" if seconds else ""
    left = max(0, most - used(user, "seconds"))
    state = f"{left:,} of your {most:,} seconds of this hour are left"
    if not left:
        state = f"your {most:,} seconds of this hour are used, so until the next it runs hourly"
    return f"{words}It runs by itself{took}: {state}."


def expected_seconds(user: User, mode: str, text: str) -> float:
    """Return what a filter is to take by itself: what those took that share its plan.

    Without such a one, those of its mode; only what is its owner's is looked at, and 0 if none of
    that was measured.
    """
    from tapestry.plan.compile import compile_filter, compile_stored

    if mode == Filter.Mode.KEEP:
        return 0.0
    measured = user.filters.filter(mode=mode, seconds__gt=0, error="").order_by("-pk")
    took = list(measured.values_list("tql", "seconds")[:LOOKED_AT])
    if not took:
        return 0.0
    mine = (user.username, people.addresses(user), False)
    try:
        key = compile_filter(text, people.context(user)).key
    except TapestryError:  # what it refers to is there no more
        return 0.0
    same = [seconds for tql, seconds in took if compile_stored(tql, *mine).key == key]
    return fmean(same or [seconds for _, seconds in took])
