"""The processes of a running site: which parts they are, killed ones, and that none is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from filters.site.settings.workers import read_workers
from filters.site.work.parts import spark_restart
from filters.site.work.parts.addresses import REMOTES, published

WORKERS = read_workers("")
PARTS = {"web", "redis", "beat", "spark", *(f"worker of {lanes[0]}" for lanes in WORKERS)}
"""The parts of a site, each in a process or more."""

Done = TypeVar("Done")


def processes_of(data: Path) -> dict[int, list[str]]:
    """Return the processes whose environment or arguments name the directory, with these.

    Redis writes its title over both, but works in the directory.
    """
    named = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes()
            description = (process / "environ").read_bytes() + arguments
            description += str((process / "cwd").readlink()).encode()
        except OSError:
            continue
        if str(data).encode() in description and int(process.name) != os.getpid() and arguments:
            named[int(process.name)] = arguments.decode(errors="replace").split("\0")
    return named


def wait_for_nobody(data: Path, seconds: float = 60.0) -> None:
    """Wait until no process names the directory."""
    deadline = time.monotonic() + seconds
    while left := processes_of(data):
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


WORKER = "filters.site.launch.worker"


def kind_of(arguments: list[str]) -> str:
    """Return which part a process is, by its arguments."""
    words = " ".join(arguments)
    if WORKER in arguments:
        return f"worker of {arguments[arguments.index(WORKER) + 1]}"
    for sign, kind in (
        ("beat", "beat"),
        ("web_server", "web"),
        ("imap_server", "imap"),
        ("redis", "redis"),
        ("spark", "spark"),
        ("manage.py up", "up"),
    ):
        if sign in words:
            return kind
    return "other"


def parts_of(data: Path) -> dict[str, set[int]]:
    """Return the processes of the parts of the site on a directory, but not that of `up`."""
    parts: dict[str, set[int]] = {}
    for number, arguments in processes_of(data).items():
        parts.setdefault(kind_of(arguments), set()).add(number)
    parts.pop("up")
    return parts


def all_parts_of(data: Path) -> dict[str, set[int]]:
    """Return them once all run: one that has just ended is started again after a pause."""
    return eventually(lambda: parts if (parts := parts_of(data)).keys() >= PARTS else None)


def start_sparks(data: Path) -> None:
    """Have a site start both Sparks, as the first statement that needs one does."""
    for name in REMOTES:
        spark_restart.want(data / "run", name)
    eventually(lambda: all(published(data / "run", name) for name in REMOTES))


def kill(parts: dict[str, set[int]], kinds: Iterable[str]) -> None:
    """Kill the processes of some parts."""
    for number in {number for kind in kinds for number in parts[kind]}:
        with suppress(ProcessLookupError):  # that of a parent was killed
            os.kill(number, signal.SIGKILL)


def eventually(
    done: Callable[[], Done | None], seconds: float = 240, described: Callable[[], object] = str
) -> Done:
    """Wait for what is true, and return it; if it does not come, say what there is instead."""
    deadline = time.monotonic() + seconds
    while not (value := done()):
        assert time.monotonic() < deadline, described()
        time.sleep(0.2)
    return value
