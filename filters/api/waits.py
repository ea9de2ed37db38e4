"""Calls that wait until something is there: few at a time, for each keeps a thread."""

from __future__ import annotations

from collections.abc import Callable
from threading import BoundedSemaphore
from time import monotonic, sleep

from filters.api.authentication import require_standing
from filters.api.models import AccessToken

LOOK = 0.25
"""Seconds between two looks."""

MOST = 4
"""Calls of a process that wait at a time, of its 16 threads; another one is answered at once."""

_places = BoundedSemaphore(MOST)


def wait_until(token: AccessToken, is_there: Callable[[], bool], seconds: float) -> bool:
    """Wait until something is there, for so long at most; False at once if MOST calls wait.

    Raise AuthenticationError once the token of the call has ended.
    """
    if not _places.acquire(blocking=False):
        return False
    try:
        until = monotonic() + seconds
        while not is_there() and monotonic() < until:
            sleep(LOOK)
            require_standing(token)
    finally:
        _places.release()
    return True
