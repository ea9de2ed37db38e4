"""Flood control: when a filter delivers far more than expected; rate limiting of deliveries."""

from __future__ import annotations

from collections.abc import Sequence

from tapestry.core.clock import HOUR

ALWAYS_ALLOWED = 30
"""Messages an hour that are no flood, however few a filter has found before."""

FACTOR = 10
"""The multiple of the usual number of an hour that is a flood."""

HOURS = 7 * 24


def is_flood(in_hour: int, in_week: int) -> bool:
    """Tell whether a filter found far more messages in an hour than is usual, by its week.

    >>> is_flood(30, 0), is_flood(31, 0), is_flood(200, 168 * 25)
    (False, True, False)
    """
    return in_hour > max(ALWAYS_ALLOWED, FACTOR * in_week / HOURS)


def time_until_free(instants: Sequence[int], most: int, now: int) -> int:
    """Return the microseconds until there were fewer than ``most`` deliveries in the last hour.

    ``instants`` are those of the latest deliveries, the newest first.

    >>> time_until_free([5, 4], most=3, now=6)
    0
    >>> time_until_free([5, 4], most=2, now=6) == HOUR - 2
    True
    """
    if len(instants) < most:
        return 0
    return max(0, instants[most - 1] + HOUR - now)
