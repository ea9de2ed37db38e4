"""How much work something is, counted in calls: the same on every machine, however busy."""

from __future__ import annotations

import cProfile
from collections.abc import Iterator
from contextlib import contextmanager

SECOND = 4_000_000
"""Calls that take about a second on a slow machine."""


class Work:
    """``calls`` is how many functions were called meanwhile, Python's and C's."""

    calls = 0


@contextmanager
def counted() -> Iterator[Work]:
    """Count the calls of a block; they are known at its end.

    The profiler counts in C: a function of Python for each call would take most of the time.
    """
    work, profile = Work(), cProfile.Profile(subcalls=False)
    profile.enable()
    try:
        yield work
    finally:
        profile.disable()
        work.calls = sum(entry.callcount for entry in profile.getstats())
