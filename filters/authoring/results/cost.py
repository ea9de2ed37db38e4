"""What of its owner's budget a filter is expected to take, said before and as it is saved."""

from __future__ import annotations

from filters.authoring.models import Filter
from filters.authoring.results.weeks import Weeks, rate_of, rate_words
from filters.people.budgets import budget, used
from filters.people.models import User


def cost_words(user: User, mode: str, weeks: Weeks = (), seconds: float = 0.0) -> str:
    """Say what a filter takes, and what is left: ``weeks`` as a preview counts them.

    ``seconds`` are what it took when it was last run by itself, 0 if it never was.
    """
    words = f"Expected: {rate_words(weeks)}. " if any(count for _, count in weeks) else ""
    most = budget(user, "deliveries")
    if weeks and rate_of(weeks) > 7 * most:
        words += f"What is more than {most:,} deliveries a day to a place comes hourly. "
    most = budget(user, "seconds")
    if mode == Filter.Mode.KEEP:
        return f"{words}It will run together with others, which takes none of your budget."
    took = f", about {seconds:.1f} seconds each time" if seconds else ""
    left = max(0, most - used(user, "seconds"))
    state = f"{left:,} of your {most:,} seconds of this hour are left"
    if not left:
        state = f"your {most:,} seconds of this hour are used, so until the next it runs hourly"
    return f"{words}It runs by itself{took}: {state}."
