"""How many messages a filter finds in each week, as a chart and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from tapestry.core.clock import to_datetime

SHOWN = 26
"""Weeks that the chart shows."""

HEIGHT, STEP = 56, 12
"""Of the chart, and of a week in it."""

BUSY = 100
"""Messages a day, from which on hourly is advised."""

_WEEK = timedelta(weeks=1)

Weeks = Sequence[tuple[str, int]]
"""The Monday of each week as ISO 8601 has it, and how many messages were received in it."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A week in the chart."""

    monday: date
    count: int
    x: int
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class Chart:
    """The weeks with their bars, and how many messages a week has, in words.

    ``is_busy``: so many messages come a day that “at once” would be too often.
    """

    bars: tuple[Bar, ...]
    rate: str
    is_busy: bool
    width: int
    height: int


def count_weeks(received: Iterable[int], zone: ZoneInfo, now: int) -> list[tuple[str, int]]:
    """Return the counts of the last ``SHOWN`` weeks: up to now, or to the last one with any.

    >>> from tapestry.core.clock import WEEK, parse_instant
    >>> now = parse_instant("2026-11-23")
    >>> count_weeks([now - WEEK, now - WEEK + 1, now], ZoneInfo("UTC"), now)[-2:]
    [('2026-11-16', 2), ('2026-11-23', 1)]
    """
    counts = Counter(_monday(instant, zone) for instant in received)
    last = _monday(now, zone)
    if counts and max(counts) <= last - SHOWN * _WEEK:
        last = max(counts)
    mondays = [last - number * _WEEK for number in reversed(range(SHOWN))]
    return [(monday.isoformat(), counts[monday]) for monday in mondays]


def chart_of(weeks: Weeks) -> Chart | None:
    """Return the chart of some weeks, None if nothing was received in them."""
    most = max((count for _, count in weeks), default=0)
    if not most:
        return None
    bars = []
    for number, (monday, count) in enumerate(weeks):
        height = max(2, round(count * HEIGHT / most)) if count else 0
        bars.append(Bar(date.fromisoformat(monday), count, number * STEP, HEIGHT - height, height))
    is_busy = rate_of(weeks) >= 7 * BUSY
    return Chart(tuple(bars), rate_words(weeks), is_busy, len(bars) * STEP, HEIGHT)


def rate_words(weeks: Weeks) -> str:
    """Return how many messages come in a week, counted from the first week that has any.

    >>> rate_words([("2026-11-02", 0), ("2026-11-09", 11), ("2026-11-16", 13)])
    'about 12 a week'
    >>> rate_words([("2026-11-02", 1), ("2026-11-09", 0), ("2026-11-16", 0)])
    'less than one a week'
    """
    rate = rate_of(weeks)
    return "less than one a week" if rate < 0.75 else f"about {max(1, round(rate)):,} a week"


def rate_of(weeks: Weeks) -> float:
    """Return how many messages a week come, counted from the first week that has any."""
    counts = [count for _, count in weeks]
    first = next((at for at, count in enumerate(counts) if count), len(counts) - 1)
    return sum(counts) / (len(counts) - first)


def _monday(instant: int, zone: ZoneInfo) -> date:
    day = to_datetime(instant).astimezone(zone).date()
    return day - timedelta(days=day.weekday())
