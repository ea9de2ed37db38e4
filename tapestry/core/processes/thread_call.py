"""A call in a thread of its own, for what has no time limit by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def begin_call(call: Callable[[], Result], name: str) -> Future[Result]:
    """Begin a call in a daemon thread: whoever gives it up goes on, and the process may end."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # it is raised again where the result is asked for
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
