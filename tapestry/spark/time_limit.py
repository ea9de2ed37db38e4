"""A time limit on a call to Spark: the call is interrupted, and abandoned if that does not help.

Spark looks whether a task was cancelled between rows, not inside a loop over them, and not while
it plans.  So the caller goes on without the call; what Spark still does is ended elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

Result = TypeVar("Result")

TURN = 0.25
"""Seconds between two looks whether the caller still wants the result."""

GRACE = 3.0
"""Seconds that an interrupted call has to end before it is abandoned."""


class GivenUpError(Exception):
    """The call did not end in time, or its result was not wanted any more."""


class _Call(Generic[Result]):
    """A call in a thread of its own."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self.done = threading.Event()
        self._call = call
        self._results: list[Result] = []
        self._errors: list[BaseException] = []
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as error:  # it is raised again where the result is asked for
            self._errors.append(error)
        finally:
            self.done.set()

    def result(self) -> Result:
        for error in self._errors:
            raise error
        return self._results[0]


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
    running = _Call(call)
    deadline = time.monotonic() + seconds
    while not running.done.wait(max(0.0, min(TURN, deadline - time.monotonic()))):
        if time.monotonic() < deadline and is_wanted():
            continue
        end = time.monotonic() + GRACE
        while time.monotonic() < end and not running.done.is_set():
            interrupt()
            running.done.wait(0.5)
        if running.done.is_set():
            with suppress(Exception):
                return running.result()  # it ended just then
        raise GivenUpError
    return running.result()
