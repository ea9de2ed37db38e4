"""Peak memory and processor time of this process and its descendants."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")


def peak_mb() -> int:
    """Return the sum of the peak resident memory of the processes, in MB."""
    return sum(_peak_kb(pid) for pid in _family(os.getpid())) // 1024


def cpu_seconds() -> float:
    """Return the processor seconds so far of the processes that run."""
    return sum(_ticks(pid) for pid in _family(os.getpid())) / os.sysconf("SC_CLK_TCK")


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
