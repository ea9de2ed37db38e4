"""End a statement that Spark goes on with although it was given up: restart that Spark.

Spark does not stop a task inside a loop of its plan.  A server that is busy although no statement
is under way works for nobody, and ``manage.py up`` starts it again.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psutil

from tapestry.core.file_lock import is_shared

PATIENCE = 20.0
"""Seconds after which a busy Spark is restarted although other statements are under way."""

LOOKS, LOOK_SECONDS, BUSY = 2, 1.0, 0.1
"""A server is busy if it uses this part of a core in each of so many looks."""


def running(run: Path, server: str) -> Path:
    """Return the file whose lock is shared by all statements under way on a server."""
    return run / f"{server}.running"


def again(run: Path, server: str) -> Path:
    """Return the file that asks ``manage.py up`` to start a server again."""
    return run / f"{server}.again"


def ask(run: Path, server: str) -> None:
    """Have a server restarted, if ``manage.py up`` runs it."""
    if _pid(run, server).exists():
        again(run, server).touch()


def ask_if_busy(run: Path, server: str) -> None:
    """Have a server restarted, soon and from another thread, if it works for nobody."""
    threading.Thread(target=_ask_if_busy, args=(run, server), daemon=True).start()


def _ask_if_busy(run: Path, server: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while is_shared(running(run, server)) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    if is_busy(run, server):
        ask(run, server)


def is_busy(run: Path, server: str) -> bool:
    """Return whether a server that ``manage.py up`` runs is at work."""
    try:
        process = psutil.Process(int(_pid(run, server).read_text()))
        return all(process.cpu_percent(LOOK_SECONDS) > 100 * BUSY for _ in range(LOOKS))
    except (OSError, ValueError, psutil.NoSuchProcess):
        return False  # it is not ours, or it is being started again already


def _pid(run: Path, server: str) -> Path:
    return run / f"{server}.pid"
