"""How much work something is, counted in calls: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

SECOND = 4_000_000
"""Calls that take about a second on a slow machine."""


class Work:
    """``calls`` is how many functions were called meanwhile, Python's and C's."""

    calls = 0


@contextmanager
def counted() -> Iterator[Work]:
    """Count the calls of a block."""
    work = Work()

    def note(_frame: object, event: str, _arg: object) -> None:
        if event in ("call", "c_call"):
            work.calls += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield work
    finally:
        sys.setprofile(before)
