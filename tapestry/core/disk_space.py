"""Room on the disk: what takes in mail and runs filters stops before the disk is full.

free ───────────── reserve ─────── 0
all goes on        mail waits,     one sentence,
                   people go on    nothing is lost
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from tapestry.core.errors import TapestryError

RESERVE = 256
"""MiB that are left to people's own clicks, sessions and logs (TAPESTRY_DISK_RESERVE)."""

_CODES = frozenset({errno.ENOSPC, errno.EDQUOT})
_PHRASES = ("No space left on device", "database or disk is full", "Disk quota exceeded")
_POSTGRESQL = "53100"
"""The SQLSTATE of a full disk."""


class DiskFullError(TapestryError):
    """There is no room on the disk; nothing was lost."""

    def __init__(self) -> None:
        super().__init__(
            "The disk of this site is full.",
            hint="Nothing is lost: everything continues once its operator has made room.",
        )


def reserve() -> int:
    """Return the bytes below which nothing is taken in or run."""
    given = os.environ.get("TAPESTRY_DISK_RESERVE", "")
    return (int(given) if given.isdecimal() else RESERVE) << 20


def has_room(path: Path) -> bool:
    """Return whether more than the reserve is free on the disk of a path, which may not exist."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free > reserve()


def require_room(path: Path) -> None:
    """Raise DiskFullError if no more than the reserve is free on the disk of a path."""
    if not has_room(path):
        raise DiskFullError


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an error, or what caused it, is a full disk.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left on device"))
    True
    >>> is_disk_full(ValueError("3"))
    False
    """
    while error is not None:
        if (
            isinstance(error, DiskFullError)
            or (isinstance(error, OSError) and error.errno in _CODES)
            or getattr(error, "sqlstate", None) == _POSTGRESQL
            or any(phrase in str(error) for phrase in _PHRASES)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False
