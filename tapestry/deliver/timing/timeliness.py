"""Timeliness, or batch delivery: a match is shown at once, or when its owner has chosen.

“After three working days” counts from when the message was received (``workdays``).

It is the interval of a timer-based query [Chen00 §2]: its EVERY, beside ``Filter.start`` (START)
and ``Filter.end`` (EXPIRE).  But it batches what is delivered, and not when the filter is run.
That each person chooses when matches are sent is of [Terry92 §6.1].
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from tapestry.core.clock import DAY, HOUR, MINUTE, to_datetime
from tapestry.core.errors import Span, TapestryError
from tapestry.deliver.timing.local_time import local_instant, spans

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

AFTER = "after "
"""How a timeliness begins that depends on when the message was received."""

_AFTER = re.compile(r"after (\d{1,2}) working days?", re.ASCII)
_EVERY = re.compile(r"every (\d{1,5}) minutes?", re.ASCII)
_AT = re.compile(r"(?:daily|weekly on ([a-z]+)) at (\d\d?):(\d\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Timeliness:
    """The times at which a person wants to see new matches.

    ``every`` is a period in microseconds, 0 for at once.  With ``minute`` (minutes after
    midnight) it is daily, and with ``weekday`` too (0 is Monday) weekly, in the owner's zone.
    ``workdays``: so many working days after the message was received.
    """

    every: int = 0
    minute: int | None = None
    weekday: int | None = None
    workdays: int = 0

    def __str__(self) -> str:
        """Return the text that parses to it."""
        if self.minute is not None:
            at = f"at {self.minute // 60:02}:{self.minute % 60:02}"
            if self.weekday is None:
                return f"daily {at}"
            return f"weekly on {DAYS[self.weekday].capitalize()} {at}"
        if self.workdays:
            return f"{AFTER}{self.workdays} working day{'s' if self.workdays > 1 else ''}"
        if self.every == HOUR:
            return "hourly"
        return f"every {self.every // MINUTE} minutes" if self.every else "at once"


def parse_timeliness(text: str) -> Timeliness:
    """Parse how often a person wants to see new matches.

    >>> str(parse_timeliness("Daily at 8:00"))
    'daily at 08:00'

    Raise TapestryError if it is none of the six forms.
    """
    words = " ".join(text.split()).lower()
    if words in ("", "at once"):
        return Timeliness()
    if words == "hourly":
        return Timeliness(every=HOUR)
    every = _EVERY.fullmatch(words)
    if every and int(every[1]):
        return Timeliness(every=int(every[1]) * MINUTE)
    after = _AFTER.fullmatch(words)
    if after and int(after[1]):
        return Timeliness(workdays=int(after[1]))
    at = _AT.fullmatch(words)
    if at and at[1] in (None, *DAYS) and int(at[2]) < 24 and int(at[3]) < 60:
        weekday = None if at[1] is None else DAYS.index(at[1])
        return Timeliness(minute=int(at[2]) * 60 + int(at[3]), weekday=weekday)
    raise TapestryError(
        f"“{text.strip()}” does not say when.",
        Span(0, len(text)),
        "Write: at once, every 30 minutes, hourly, daily at 08:00, weekly on Monday at 08:00, "
        "or after 3 working days.",
        text,
    )


def shown_at(timeliness: Timeliness, stored_at: int, zone: tzinfo) -> int:
    """Return the first showing time at or after ``stored_at``, by the clocks of the owner's zone.

    A period's showing times are the local times that are multiples of it, counted from 1970:
    hourly is at the full hour by the local clock.  Those in an hour that the clocks repeat come
    twice, those in one that they skip do not come.  A daily or weekly time always comes once
    (tapestry.deliver.timing.local_time).

    >>> from datetime import UTC
    >>> shown_at(Timeliness(every=10), stored_at=21, zone=UTC)
    30
    """
    if timeliness.minute is not None:
        return _next_time_of_day(timeliness, stored_at, zone)
    if timeliness.every:
        return _next_multiple(timeliness.every, stored_at, zone)
    return stored_at


def _next_multiple(period: int, instant: int, zone: tzinfo) -> int:
    # One multiple may be skipped by the clocks, and they skip a day at most.
    for span in spans(instant, instant + 2 * period + 2 * DAY, zone):
        local = span.begin + span.offset
        multiple = -(-local // period) * period - span.offset
        if multiple < span.end:
            return multiple
    raise AssertionError("the clocks skip less than two periods")


def _next_time_of_day(timeliness: Timeliness, instant: int, zone: tzinfo) -> int:
    local = to_datetime(instant).astimezone(zone)
    # A time of the day before may be skipped by the clocks, and come today.
    day = datetime(local.year, local.month, local.day) - timedelta(days=1)
    if timeliness.weekday is not None:
        day += timedelta(days=(timeliness.weekday - day.weekday()) % 7)
    step = timedelta(days=1 if timeliness.weekday is None else 7)
    while True:
        shown = local_instant(day + timedelta(minutes=timeliness.minute or 0), zone)
        if shown >= instant:
            return shown
        day += step
