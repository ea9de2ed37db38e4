"""Instants: microseconds since 1970-01-01 UTC, as integers.

Time is discrete.  One logical clock stamps every append and gives every run its watermark
(DESIGN: time and commits), so that no row ever becomes visible behind a window that has run.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY
UNITS = {"week": WEEK, "day": DAY, "hour": HOUR, "minute": MINUTE, "second": SECOND}

BEGINNING = -(2**62)
"""Minus infinity: where the first window of a filter over existing mail begins."""

NEVER = -BEGINNING
"""Plus infinity: when something ends that has no end."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)


def wall_clock() -> int:
    """Return the present instant by the machine's clock."""
    return time.time_ns() // 1000


def next_instant(now: int, last: int) -> int:
    """Return the ``ts`` of an append: later than every earlier ``ts`` and watermark.

    >>> next_instant(now=5, last=9)
    10
    """
    return max(now, last) + 1


def watermark_instant(now: int, last: int) -> int:
    """Return the watermark of a run: no later append will have a ``ts`` at or before it.

    >>> watermark_instant(now=5, last=9)
    9
    """
    return max(now, last)


def to_instant(moment: datetime) -> int:
    """Return an aware datetime as an instant; a naive one is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_datetime(instant: int) -> datetime:
    """Return an instant as an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=instant)


def parse_instant(text: str) -> int:
    """Read an ISO 8601 instant with up to six decimals; without a zone it is UTC.

    >>> parse_instant("1970-01-01T00:00:01.5Z")
    1500000

    Raises ValueError if it is not one, or its zone moves it out of the years 1 to 9999.
    """
    if not _ISO.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is not an instant such as 2026-01-31T12:00:00Z")
    instant = to_instant(datetime.fromisoformat(text.strip()))
    try:
        to_datetime(instant)
    except OverflowError:
        raise ValueError(f"{text!r} is not within the years 1 to 9999") from None
    return instant


def format_instant(instant: int) -> str:
    """Write an instant as ISO 8601 with ``Z``, six decimals only where they are needed.

    >>> format_instant(1500000)
    '1970-01-01T00:00:01.500000Z'
    """
    moment = to_datetime(instant)
    return moment.replace(tzinfo=None).isoformat() + "Z"
