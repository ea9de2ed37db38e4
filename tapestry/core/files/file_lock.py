"""Advisory locks on files: one process and thread at a time, on one machine.

The library `filelock` uses flock(2): the kernel releases the lock when its holder ends, in any
way, and a child that is forked meanwhile does not inherit it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    try:
        yield True
    finally:
        with suppress(OSError):  # a server that is gone has no lock any more
            acquired.lock.release()


@contextmanager
def shared_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file together with any number of others, who are not kept out."""
    with _opened(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


def is_shared(path: Path) -> bool:
    """Return whether anybody holds ``shared_lock`` of a file."""
    with _opened(path) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def is_held(path: Path) -> bool:
    """Return whether anybody holds the lock of a file, alone or with others; it is not made."""
    return path.exists() and is_shared(path)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Yield a file descriptor of its own; closing it releases its lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
