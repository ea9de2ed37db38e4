"""How much mail a person may send: a stolen password is of little use to who sends spam."""

from __future__ import annotations

from limits import RateLimitItemPerDay, RateLimitItemPerHour

from filters.people.models import User
from filters.site.templatetags.mail import time_words
from filters.site.work.rate_limits import Count, TooManyTriesError, digest, reserve
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError

MOST_AN_HOUR, MOST_A_DAY = 30, 200

HOUR = RateLimitItemPerHour(MOST_AN_HOUR, 1, "compose")
DAY = RateLimitItemPerDay(MOST_A_DAY, 1, "compose")
_WORDS = {"hour": f"{MOST_AN_HOUR} messages an hour", "day": f"{MOST_A_DAY} messages a day"}


def count_message(owner: User) -> None:
    """Count a message that is to be sent; raise TapestryError if there were too many of late."""
    key = digest("compose", str(owner.pk))
    try:
        reserve([Count("hour", HOUR, key), Count("day", DAY, key)])
    except TooManyTriesError as error:
        again = time_words(wall_clock() + error.seconds * SECOND)
        raise TapestryError(
            f"You have reached the limit of {_WORDS[error.reason]}.",
            hint=f"This one is kept. You can send it after {again}.",
        ) from error
