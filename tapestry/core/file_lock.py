"""Advisory locks on files: one process and thread at a time, on one machine.

The library `filelock` uses flock(2): the kernel releases the lock when its holder ends, in any
way, and a child that is forked meanwhile does not inherit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

FOREVER = -1.0


@contextmanager
def file_lock(path: Path, *, wait: float = 0.0, mode: int = -1) -> Iterator[bool]:
    """Hold the lock of a file for the length of the block; yield whether it was acquired.

    It is not if another holder keeps it for ``wait`` seconds.  The file is made with ``mode``, by
    default that of the umask.  Raises OSError if the file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        acquired = FileLock(path, mode=mode).acquire(timeout=wait)
    except Timeout:
        yield False
        return
    with acquired:
        yield True
