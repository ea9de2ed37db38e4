"""Local clocks: the spans of time in which a zone keeps one offset from UTC.

Where the clocks are changed, a local time is skipped (a gap) or comes twice (a fold).  A local time
in a gap is read with the offset from before it, one in a fold is the first of the two
(RFC 5545 §3.3.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from tapestry.core.clock import DAY, to_datetime, to_instant
from tapestry.core.errors import TapestryError


@dataclass(frozen=True, slots=True)
class Span:
    """The instants ``begin <= t < end``, in which local time is ``t + offset``; microseconds."""

    begin: int
    end: int
    offset: int


def spans(begin: int, end: int, zone: tzinfo) -> Iterator[Span]:
    """Yield the spans from ``begin`` to ``end``, in order and without gaps; none exceeds a day.

    A zone is taken to change its offset at most once a day.

    >>> from datetime import UTC
    >>> list(spans(5, 9, UTC))
    [Span(begin=5, end=9, offset=0)]
    """
    offset = offset_at(begin, zone)
    while begin < end:
        until = min(begin + DAY, end)
        if offset_at(until, zone) != offset:
            until = _change(begin, until, offset, zone)
        yield Span(begin, until, offset)
        begin, offset = until, offset_at(until, zone)


def offset_at(instant: int, zone: tzinfo) -> int:
    """Return how far the clocks of a zone are ahead of UTC at an instant, in microseconds."""
    return (to_datetime(instant).astimezone(zone).utcoffset() or timedelta()) // timedelta(
        microseconds=1
    )


def local_instant(moment: datetime, zone: tzinfo) -> int:
    """Return the instant of a local time, given without a zone.

    >>> from zoneinfo import ZoneInfo
    >>> to_datetime(local_instant(datetime(2026, 3, 29, 2, 30), ZoneInfo("Europe/Berlin"))).hour
    1
    """
    return to_instant(moment.replace(tzinfo=zone))


def typed_instant(text: str, zone: tzinfo, otherwise: str) -> int:
    """Return the instant of a day and a time as a browser sends them, by the clocks of a zone.

    What names its own offset from UTC is read by that.  Raise TapestryError with the sentence
    ``otherwise`` if the text is no time.

    >>> from datetime import UTC
    >>> typed_instant("1970-01-01 01:00:01+01:00", UTC, "Say when.")
    1000000
    """
    try:
        moment = datetime.fromisoformat(text)
        return to_instant(moment) if moment.tzinfo else local_instant(moment, zone)
    except (ValueError, OverflowError):
        hint = "Write a day and a time, as 2027-01-31 08:00."
        raise TapestryError(otherwise, hint=hint) from None


def _change(same: int, changed: int, offset: int, zone: tzinfo) -> int:
    """Return the first instant of another offset, by bisection."""
    while changed - same > 1:
        middle = (same + changed) // 2
        if offset_at(middle, zone) == offset:
            same = middle
        else:
            changed = middle
    return changed
