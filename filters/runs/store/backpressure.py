"""Backpressure: whoever brings much mail waits until the shared window has come near.

So the mail of others, which is filtered in the same window, never waits behind a whole import.
"""

from __future__ import annotations

import time

from filters.runs.models import SharedWindow
from filters.site.work.queues.queue import TICK, run_soon
from tapestry.core.clock import MINUTE, wall_clock

PATIENCE = 10.0
"""Seconds that one append is waited for at most: mail comes in even where filters do not run."""

TURN = 0.1


class Backpressure:
    """Called with the ``ts`` of each append of one import, in order."""

    def __init__(self) -> None:
        self._before: int | None = None

    def __call__(self, ts: int) -> None:
        """Have the shared window run; wait until it has passed the append before this one."""
        run_soon(TICK)
        before, self._before = self._before, ts
        deadline = time.monotonic() + PATIENCE
        while before is not None and _is_behind(before) and time.monotonic() < deadline:
            time.sleep(TURN)


def _is_behind(ts: int) -> bool:
    """Return whether a part of the shared window moves, and has not passed an instant."""
    behind = SharedWindow.objects.filter(since__lt=ts, ran_at__gt=wall_clock() - MINUTE)
    return behind.exists()
