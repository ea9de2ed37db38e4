"""A time limit on a call to Spark: the call is interrupted, and abandoned if that does not help.

Spark looks whether a task was cancelled between rows, not inside a loop over them, and not while
it plans.  So the caller goes on without the call; what Spark still does is ended elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import suppress

from tapestry.core.processes.thread_call import Result, begin_call

TURN = 0.25
"""Seconds between two looks whether the caller still wants the result."""

GRACE = 3.0
"""Seconds that an interrupted call has to end before it is abandoned."""


class GivenUpError(Exception):
    """The call did not end in time, or its result was not wanted any more."""


def call_within(
    seconds: float,
    call: Callable[[], Result],
    interrupt: Callable[[], None],
    is_wanted: Callable[[], bool] = lambda: True,
) -> Result:
    """Return the result of a call; raise GivenUpError after ``seconds``, or if it is not wanted.

    Then ``interrupt`` is called again and again for ``GRACE`` seconds: a query that has not quite
    started is not interrupted.  Errors of the call are raised as they are.
    """
    running = begin_call(call, "spark")
    deadline = time.monotonic() + seconds
    while not wait([running], max(0.0, min(TURN, deadline - time.monotonic()))).done:
        if time.monotonic() < deadline and is_wanted():
            continue
        end = time.monotonic() + GRACE
        while time.monotonic() < end and not running.done():
            interrupt()
            wait([running], 0.5)
        if running.done():
            with suppress(Exception):
                return running.result()  # it ended just then
        raise GivenUpError
    return running.result()
