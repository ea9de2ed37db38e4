"""When a match is shown: at once, or at the next time that its owner has chosen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from tapestry.core.clock import HOUR, MINUTE, to_datetime, to_instant
from tapestry.core.errors import Span, TapestryError

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_EVERY = re.compile(r"every\s+(\d{1,5})\s+minutes?", re.IGNORECASE | re.ASCII)
_DAILY = re.compile(r"daily\s+at\s+(\d\d?):(\d\d)", re.IGNORECASE | re.ASCII)
_WEEKLY = re.compile(r"weekly\s+on\s+([a-z]+)\s+at\s+(\d\d?):(\d\d)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Timeliness:
    """How often a person wants to see new matches.

    ``every`` is a period in microseconds, 0 for at once.  With ``minute`` (minutes after
    midnight) it is daily, and with ``weekday`` too (0 is Monday) weekly, in the owner's zone.
    """

    every: int = 0
    minute: int | None = None
    weekday: int | None = None

    def __str__(self) -> str:
        """Return the text that parses to it."""
        if self.minute is not None:
            at = f"at {self.minute // 60:02}:{self.minute % 60:02}"
            if self.weekday is None:
                return f"daily {at}"
            return f"weekly on {DAYS[self.weekday].capitalize()} {at}"
        if self.every == HOUR:
            return "hourly"
        return f"every {self.every // MINUTE} minutes" if self.every else "at once"


def parse_timeliness(text: str) -> Timeliness:
    """Parse how often a person wants to see new matches.

    >>> str(parse_timeliness("Daily at 8:00"))
    'daily at 08:00'

    Raise TapestryError if it is none of the five forms.
    """
    words = " ".join(text.split()).lower()
    if words in ("", "at once"):
        return Timeliness()
    if words == "hourly":
        return Timeliness(every=HOUR)
    if (every := _EVERY.fullmatch(words)) and int(every[1]):
        return Timeliness(every=int(every[1]) * MINUTE)
    if (daily := _DAILY.fullmatch(words)) and _is_time(daily[1], daily[2]):
        return Timeliness(minute=int(daily[1]) * 60 + int(daily[2]))
    weekly = _WEEKLY.fullmatch(words)
    if weekly and weekly[1] in DAYS and _is_time(weekly[2], weekly[3]):
        minute = int(weekly[2]) * 60 + int(weekly[3])
        return Timeliness(minute=minute, weekday=DAYS.index(weekly[1]))
    raise TapestryError(
        f"“{text.strip()}” does not say when.",
        Span(0, len(text)),
        "Write: at once, every 30 minutes, hourly, daily at 08:00, or weekly on Monday at 08:00.",
        text,
    )


def shown_at(timeliness: Timeliness, found_at: int, zone: tzinfo) -> int:
    """Return the instant at which a match found at ``found_at`` is shown to its owner.

    Periods are counted from 1970, so that matches found in one period are shown together at
    its end.  A local time that the clocks skip counts as the instant after the gap; one that
    they repeat counts once, the first time.

    >>> from datetime import UTC
    >>> shown_at(Timeliness(every=10), found_at=21, zone=UTC)
    30
    """
    if timeliness.minute is None:
        if not timeliness.every:
            return found_at
        return -(-found_at // timeliness.every) * timeliness.every
    local = to_datetime(found_at).astimezone(zone)
    day = datetime(local.year, local.month, local.day)
    if timeliness.weekday is not None:
        day += timedelta(days=(timeliness.weekday - day.weekday()) % 7)
    step = timedelta(days=1 if timeliness.weekday is None else 7)
    while True:
        moment = day + timedelta(minutes=timeliness.minute)
        instant = to_instant(moment.replace(tzinfo=zone))
        if instant >= found_at:
            return instant
        day += step


def _is_time(hour: str, minute: str) -> bool:
    return int(hour) < 24 and int(minute) < 60
