"""Child processes that leave no orphans: own process group, own log, killed with their parent."""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
"""Loaded before any fork: little is safe between fork and exec."""


MALLOC = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}
"""Settings of glibc's malloc (mallopt(3)): freed memory goes back to the system.

By default threads share as many as eight arenas for each core, and what is freed stays in them:
a worker that sends statements all day would grow by megabytes a minute.
"""


@dataclass(frozen=True)
class Child:
    """A child process; ``name`` is the word for it in sentences."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        """Return whether the process still runs."""
        return self.process.poll() is None

    def describe_exit(self) -> str:
        """Return a sentence on how the process ended, with the last line of its log."""
        code = self.process.poll()
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        try:
            line = last_line(self.log)
        except OSError as error:
            return f"{self.name} ended {how}; its log cannot be read: {error}"
        about_log = f"the last line of {self.log} is: {line}" if line else f"{self.log} is empty"
        return f"{self.name} ended {how}; {about_log}"


def spawn(
    name: str,
    argv: Sequence[str],
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Child:
    """Start a process in a process group of its own, its output appended to ``log``.

    ``env``, by default ours, is its environment, beside ``MALLOC`` where that says nothing else.
    Call it from the main thread: on Linux the kernel kills the child when the *thread* that
    started it ends.  So no child outlives a parent that was killed with -9.
    """
    with log.open("ab") as out:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=MALLOC | dict(os.environ if env is None else env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=partial(die_with_parent, os.getpid()),
        )
    return Child(name, process, log)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux; nothing elsewhere)."""
    if _LIBC is None:
        return
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def stop(children: Sequence[Child], grace: float = 4.0) -> None:
    """End processes and their process groups: SIGTERM first, SIGKILL after ``grace`` seconds."""
    for child in children:
        _signal(child, signal.SIGTERM)
    deadline = time.monotonic() + grace
    for child in children:
        with suppress(subprocess.TimeoutExpired):
            child.process.wait(max(0.0, deadline - time.monotonic()))
    for child in children:
        _signal(child, signal.SIGKILL)
        child.process.wait()


def _signal(child: Child, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)


PORTS = range(20_000, 32_768)
"""Below those that Linux gives to connections out (``ip_local_port_range``)."""


def free_port() -> int:
    """Return a loopback port on which no process listens now, and which no connection out is given.

    Such a connection could take the port before its server does.  One that only looks whether the
    server is there yet could even be connected to itself.
    """
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def listens(port: int, host: str = "127.0.0.1", timeout: float = 0.5) -> bool:
    """Return whether a process accepts connections on a port."""
    try:
        socket.create_connection((host, port), timeout).close()
    except OSError:
        return False
    return True


def last_line(log: Path) -> str:
    """Return the last line of a log that is not blank, cut to 300 characters."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 8192))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    return next((line[:300] for line in reversed(lines) if line), "")
