"""Until when a message is snoozed: moments that are offered, and those that a person chooses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from filters.people.models import User
from tapestry.core.clock import DAY, to_datetime, to_instant, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.timing.local_time import typed_instant

MORNING = time(8)
EVENING = time(18)

FURTHEST = 3660 * DAY
"""Further away a moment is taken for a typing error."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment that is offered: the name that forms send, its words, and its instant."""

    name: str
    words: str
    instant: int


def moments(zone: ZoneInfo, now: int) -> list[Moment]:
    """Return the moments that are offered at an instant, the next first.

    >>> noon = to_instant(datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")))
    >>> [moment.name for moment in moments(ZoneInfo("Europe/Berlin"), noon)]
    ['evening', 'tomorrow', 'week']
    >>> [moment.name for moment in moments(ZoneInfo("Europe/Berlin"), noon + DAY // 4)]
    ['tomorrow', 'week']
    """
    today = to_datetime(now).astimezone(zone).date()
    days = (
        ("evening", "This evening", today, EVENING),
        ("tomorrow", "Tomorrow morning", today + timedelta(days=1), MORNING),
        ("week", "Next week", today + timedelta(days=7 - today.weekday()), MORNING),
    )
    offered = [
        Moment(name, words, to_instant(datetime.combine(day, at, zone)))
        for name, words, day, at in days
    ]
    return [moment for moment in offered if moment.instant > now]


def read_moment(user: User, name: str, chosen: str) -> int:
    """Return the instant that a form means: a moment that is offered, or ``chosen`` by a person.

    ``chosen`` is as a browser sends a date and time, in the person's time zone.  Raise
    TapestryError, in words, unless it is in the future.
    """
    zone, now = user.zone, wall_clock()
    for moment in moments(zone, now):
        if moment.name == name:
            return moment.instant
    if name and name != "chosen":
        raise TapestryError("That time has passed.", hint="Choose a later one.")
    return check_moment(typed_instant(chosen, zone, "Choose a day and a time."))


def check_moment(instant: int) -> int:
    """Return an instant that somebody chose; raise TapestryError unless it is in the future."""
    now = wall_clock()
    if instant <= now:
        raise TapestryError("That time has passed.", hint="Choose a later one.")
    if instant > now + FURTHEST:
        raise TapestryError("That is more than ten years away.", hint="Choose an earlier time.")
    return instant
