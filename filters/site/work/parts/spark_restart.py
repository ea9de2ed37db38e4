"""Have ``manage.py up`` start a Spark when a statement first needs it, and start it again.

Spark does not stop a task inside a loop of its plan.  A server that is busy although no statement
is under way works for nobody.  To restart it ends a statement that it goes on with although that
was given up.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psutil

from tapestry.core.files.file_lock import is_shared

YOUNG = 30.0
"""Seconds that a server may need to start, and to run its first statement."""

LOOK_SECONDS, BUSY = 3.0, 0.2
"""A server is busy if it uses this part of a core, on average of so many seconds."""

TURN = 0.4
"""Seconds between two looks whether a statement is under way."""


def running(run: Path, server: str) -> Path:
    """Return the file whose lock is shared by all statements under way on a server."""
    return run / f"{server}.running"


def wanted(run: Path, server: str) -> Path:
    """Return the file that has ``manage.py up`` start a server.  It stays: one is started."""
    return run / f"{server}.wanted"


def want(run: Path, server: str) -> None:
    """Have a server started, if that has not been asked for yet."""
    if not wanted(run, server).exists():
        wanted(run, server).touch(0o600)


def is_new(run: Path, server: str, seconds: float) -> bool:
    """Return whether a server was first asked for in the last seconds: it may not answer yet."""
    try:
        return time.time() - wanted(run, server).stat().st_mtime < seconds
    except FileNotFoundError:
        return False


def again(run: Path, server: str) -> Path:
    """Return the file that asks ``manage.py up`` to start a server again."""
    return run / f"{server}.again"


def ask(run: Path, server: str, age: float) -> None:
    """Have a server restarted, if ``manage.py up`` started it more than ``age`` seconds ago."""
    if _age(run, server) > age:
        again(run, server).touch()


def ask_if_busy(run: Path, server: str, patience: float) -> None:
    """Have a server restarted, soon and from another thread, if it works for nobody.

    After so many seconds it is restarted although other statements are under way.
    """
    threading.Thread(target=_ask_if_busy, args=(run, server, patience), daemon=True).start()


def _ask_if_busy(run: Path, server: str, patience: float) -> None:
    process, age = _process(run, server), _age(run, server)
    if 0 < age <= YOUNG:
        time.sleep(YOUNG)  # it may be busy with its start
    deadline = time.monotonic() + patience
    while is_shared(running(run, server)) and time.monotonic() < deadline:
        time.sleep(TURN)
    if process == _process(run, server) and is_busy(run, server):
        ask(run, server, YOUNG)


def is_busy(run: Path, server: str) -> bool:
    """Return whether a server that ``manage.py up`` runs is at work."""
    process = _process(run, server)
    try:
        return process is not None and process.cpu_percent(LOOK_SECONDS) > 100 * BUSY
    except psutil.NoSuchProcess:
        return False  # it is being started again already


def _age(run: Path, server: str) -> float:
    """Return the seconds since a server was started; 0 if it does not run, or is not ours."""
    process = _process(run, server)
    return time.time() - process.create_time() if process else 0.0


def _process(run: Path, server: str) -> psutil.Process | None:
    try:
        return psutil.Process(int((run / f"{server}.pid").read_text()))
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None
