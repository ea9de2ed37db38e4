"""Exponential backoff: how long to wait before a server that failed is tried again."""

from __future__ import annotations

FIRST = 30.0
LONGEST = 3600.0


def pause_after(failures: int, first: float = FIRST, longest: float = LONGEST) -> float:
    """Return the seconds to wait after so many failures in a row: twice as long each time.

    >>> [pause_after(failures) for failures in (0, 1, 2, 3, 99)]
    [0.0, 30.0, 60.0, 120.0, 3600.0]
    """
    return min(longest, first * 2.0 ** min(failures - 1, 60)) if failures > 0 else 0.0
