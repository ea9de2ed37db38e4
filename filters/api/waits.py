"""Calls that wait for what is released, few at a time: a thread of the server waits with each."""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore
from time import monotonic, sleep

from filters.runs.models import ReleaseCounter

LOOK = 0.25
"""Seconds between two readings of the release sequence."""

MOST = 4
"""Calls of a process that wait at a time, of its 16 threads; another one is answered at once."""

_places = BoundedSemaphore(MOST)


def wait_for_release(is_there: Callable[[], bool], seconds: float) -> None:
    """Return once something is there, which a release brings; at the latest after so long."""
    if not _places.acquire(blocking=False):
        return
    try:
        until, seen = monotonic() + seconds, -1
        while (position := ReleaseCounter.position()) == seen or not is_there():
            seen = position
            if monotonic() >= until:
                return
            sleep(LOOK)
    finally:
        _places.release()
