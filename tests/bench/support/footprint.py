"""Peak memory and processor time of this process and its descendants."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

PROC = Path("/proc")
WORKER = "filters.site.launch.worker"


def peak_mb() -> int:
    """Return the sum of the peak resident memory of the processes, in MB."""
    return sum(_peak_kb(pid) for pid in _family(os.getpid())) // 1024


def resident_mb() -> dict[str, int]:
    """Return the resident memory of each process that descends from this one, in MB, by its name.

    The name of one of ours is its module and its first lane, of another its program.
    """
    sizes: dict[str, int] = {}
    for pid in _family(os.getpid()):
        resident = re.search(r"^VmRSS:\s+(\d+) kB", _read(PROC / str(pid) / "status"), re.MULTILINE)
        if resident and pid != os.getpid():
            name = _name_of(_read(PROC / str(pid) / "cmdline").split("\0"))
            sizes[name] = sizes.get(name, 0) + int(resident[1]) // 1024
    return sizes


def _name_of(arguments: list[str]) -> str:
    """Return a short name of a command.

    >>> _name_of(["python", "-m", "filters.site.launch.worker", "own", "previews", ""])
    'worker own'
    >>> _name_of(["/usr/bin/java", "-cp", "/x"])
    'java'
    """
    if WORKER in arguments:
        return f"worker {arguments[arguments.index(WORKER) + 1]}"
    known = ("beat", "up", "filters.site.launch.web_server")
    return next((name for name in known if name in arguments), Path(arguments[0]).name)


def cpu_seconds() -> float:
    """Return the processor seconds so far of the processes that run."""
    return sum(_ticks(pid) for pid in _family(os.getpid())) / os.sysconf("SC_CLK_TCK")


def cpu_timed(run: Callable[[], Result]) -> tuple[float, Result]:
    """Return the processor seconds that a run takes in all processes, and its result."""
    begin = cpu_seconds()
    result = run()
    return cpu_seconds() - begin, result


def _family(pid: int) -> Iterator[int]:
    """Yield a process and all that descend from it."""
    yield pid
    for task in (PROC / str(pid) / "task").glob("*"):
        for child in _read(task / "children").split():
            yield from _family(int(child))


def _peak_kb(pid: int) -> int:
    peak = re.search(r"^VmHWM:\s+(\d+) kB", _read(PROC / str(pid) / "status"), re.MULTILINE)
    return int(peak[1]) if peak else 0


def _ticks(pid: int) -> int:
    """Return user and system time: fields 14 and 15, counted from after the name."""
    after_name = _read(PROC / str(pid) / "stat").rpartition(")")[2].split()
    return int(after_name[11]) + int(after_name[12]) if after_name else 0


def _read(path: Path) -> str:
    """Return the text of a file of /proc; empty if the process has ended, or has none."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
