"""A process that has imported what is large, and forks a child for each program that is ordered.

    python -m tests.support.processes.fork_server FD   FD: a socket that orders come by

It knows no settings, has the parser of phrases, and one thread.  A child has the directory,
environment, arguments and files that its order names, runs the program as Python runs a script,
and ends as Python ends, but takes nothing to pieces: that would take half a second, of all modules.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import selectors
import socket
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from tapestry.query.phrases.grammar import grammar

LARGE = (
    "celery",
    "deltalake",
    "django.core.management",
    "django.db.backends.sqlite3.base",
    "django.db.models",
    "django.forms",
    "environ",
    "pandas",
    "psutil",
    "pyarrow.parquet",
    "tapestry.deliver.timing.schedule",
    "tapestry.ingest.command",
    "tapestry.plan.explain",
    "tapestry.predicate_index.check",
    "tapestry.rewrite.pipeline",
    "tapestry.run.tick",
    "tapestry.tables.backup",
    "tapestry.tables.check.repair",
    "tests.support.engines.sqlite_engine",
    "tqdm",
)
"""Modules that are imported once, with all that these import."""

LONGEST = 1_000_000
"""Bytes of an order."""

NOT_WRITTEN = 120
"""The code with which Python ends where the rest of its output cannot be written."""


def serve(control: socket.socket) -> dict[str, Any] | None:
    """Fork children until the client ends; in a child, return its order.

    The client is told the number of each child, and later how it ended (see ``os.waitpid``).
    """
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data is not None:
                    pid, answers = key.data
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    with answers:
                        _tell(answers, os.waitpid(pid, 0)[1])
                    continue
                content, descriptors, *_ = socket.recv_fds(control, LONGEST, 4)
                if not content:
                    return None
                answers = socket.socket(fileno=descriptors.pop())
                if not (pid := os.fork()):
                    return json.loads(content) | {"files": descriptors}
                for descriptor in descriptors:
                    os.close(descriptor)
                _tell(answers, pid)
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answers))


def _tell(answers: socket.socket, number: int) -> None:
    """Tell the client a number, unless it does not listen any more."""
    try:
        answers.send(str(number).encode())
    except OSError:
        return


def become(order: dict[str, Any]) -> None:
    """Have this process the files, directory and environment of an order."""
    for standard, descriptor in enumerate(order["files"]):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.chdir(order["directory"])
    if order["umask"] >= 0:
        os.umask(order["umask"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.argv = order["arguments"]
    sys.orig_argv = [sys.executable, *sys.argv]
    sys.path[0] = str(Path(sys.argv[0]).absolute().parent)


def exit_code() -> int:
    """Run the program of this process, and return the code that Python would end with."""
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int | None):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def leave(code: int) -> None:
    """End this process as Python does: after its threads, and what is to be done at the end."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            try:
                stream.flush()
            except OSError:
                code = code or NOT_WRITTEN
    os._exit(code)


def main(descriptor: int) -> None:
    """Serve; in a child, run its program."""
    for name in LARGE:
        import_module(name)
    grammar().parse("from joe")  # lark makes the tables of its parser and lexer then
    threads = [*Path("/proc/self/task").iterdir()]
    assert len(threads) == 1, "a fork takes one thread along"
    gc.freeze()  # a child that looked at them would copy them all
    order = serve(socket.socket(fileno=descriptor))
    if order is not None:
        become(order)
        leave(exit_code())


if __name__ == "__main__":
    main(int(sys.argv[1]))
