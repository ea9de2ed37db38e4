"""Calls in processes of their own, forked from one that has the product imported."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

Call = Callable[[], Any]


def in_turn(calls: Sequence[Call], jobs: int) -> Iterator[Any]:
    """Yield what the calls return, in their order, so many at a time; None of one that ended."""
    running: dict[Connection, tuple[int, int]] = {}
    done: dict[int, Any] = {}
    begun = 0
    for number in range(len(calls)):
        while number not in done:
            while begun < len(calls) and len(running) < jobs:
                pipe, process = _start(calls[begun])
                running[pipe] = (begun, process)
                begun += 1
            for pipe in wait(list(running)):
                ended, process = running.pop(pipe)
                try:
                    done[ended] = pipe.recv()
                except EOFError:
                    done[ended] = None
                pipe.close()
                os.waitpid(process, 0)
        yield done.pop(number)


def _start(call: Call) -> tuple[Connection, int]:
    ours, theirs = Pipe()
    process = os.fork()
    if process == 0:
        try:
            ours.close()
            theirs.send(call())
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)
    theirs.close()
    return ours, process
