"""A process that has imported what is large, and forks a child for each program that is ordered.

    python -m tests.support.fork_server FD      FD: a socket (SOCK_SEQPACKET) that orders come by

It knows no settings, has the parser of phrases, and one thread.  A child has the directory,
environment, arguments and files that its order names, runs the program as Python runs a script,
and ends as Python ends.
"""

from __future__ import annotations

import json
import os
import runpy
import selectors
import socket
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from tapestry.query.phrases.grammar import grammar

LARGE = (
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


def main(descriptor: int) -> None:
    """Serve; in a child, run its program."""
    for name in LARGE:
        import_module(name)
    grammar().parse("from joe")  # lark makes the tables of its parser and lexer then
    threads = [*Path("/proc/self/task").iterdir()]
    assert len(threads) == 1, "a fork takes one thread along"
    order = serve(socket.socket(fileno=descriptor))
    if order is not None:
        become(order)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(int(sys.argv[1]))
