"""Working days of a person: when so many have passed since an instant, by the clocks of their zone.

A day that is none of their weekdays, or a holiday of theirs, is as if it had no time in it: what
comes then counts from midnight of the next working day.  So ``due`` is never before the instant,
and monotone but for an hour that the clocks show twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from tapestry.core.clock import to_datetime
from tapestry.core.errors import TapestryError
from tapestry.deliver.timing.local_time import local_instant

WEEKDAYS = "01234"
"""The weekdays of most people as a text of digits, 0 is Monday."""

MOST_HOLIDAYS = 1000

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The weekdays on which a person works, 0 is Monday, and the days on which they do not."""

    weekdays: frozenset[int]
    holidays: frozenset[date] = frozenset()

    def works_on(self, day: date) -> bool:
        """Tell whether it is a working day; the last years that there are have no other days."""
        return (day.weekday() in self.weekdays and day not in self.holidays) or day.year == MAXYEAR


@lru_cache(maxsize=256)
def calendar_of(weekdays: str, holidays: str) -> Calendar:
    """Return the calendar of digits of weekdays and of days, one on each line, as 2027-01-31.

    Raise TapestryError, in words, where there is no working day or a line is no day.
    """
    days = frozenset(int(digit) for digit in weekdays if digit in "0123456")
    if not days:
        raise TapestryError("Choose at least one weekday on which you work.")
    lines = [line.strip() for line in holidays.splitlines() if line.strip()]
    if len(lines) > MOST_HOLIDAYS:
        raise TapestryError(f"Write at most {MOST_HOLIDAYS:,} holidays.")
    return Calendar(days, frozenset(map(_day, lines)))


def due(instant: int, days: int, calendar: Calendar, zone: tzinfo) -> int:
    """Return when so many working days have passed since an instant; microseconds since 1970.

    >>> from datetime import UTC
    >>> from tapestry.core.clock import DAY, HOUR
    >>> thursday = 16 * HOUR  # 1 January 1970
    >>> office = calendar_of(WEEKDAYS, "1970-01-06")
    >>> [due(thursday + n * DAY, 1, office, UTC) // HOUR - 16 for n in range(5)]  # in hours of 16 h
    [24, 96, 128, 128, 144]
    """
    local = to_datetime(instant).astimezone(zone).replace(tzinfo=None)
    day, at = local.date(), local.time()
    if not calendar.works_on(day):
        day, at = _next(day, calendar), time()
    for _ in range(days):
        day = _next(day, calendar)
    return max(instant, local_instant(datetime.combine(day, at), zone))


def _next(day: date, calendar: Calendar) -> date:
    day += _DAY
    while not calendar.works_on(day):
        day += _DAY
    return day


def _day(line: str) -> date:
    try:
        return date.fromisoformat(line)
    except ValueError:
        message = f"“{line[:40]}” is not a day."
        raise TapestryError(message, hint="Write one on each line, as 2027-01-31.") from None
