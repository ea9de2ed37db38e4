"""Room on the disk: what takes in mail and runs filters stops before the disk is full.

free ───────────── reserve ─────── 0
all goes on        mail waits,     one sentence,
                   people go on    nothing is lost
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

from tapestry.core.errors import TapestryError

RESERVE = 256
"""MiB that are left to people's own clicks, sessions and logs (TAPESTRY_DISK_RESERVE)."""

_CODES = frozenset({errno.ENOSPC, errno.EDQUOT})
_PHRASES = ("No space left on device", "database or disk is full", "Disk quota exceeded")
_POSTGRESQL = "53100"
"""The SQLSTATE of a full disk."""

_WRITERS = re.compile(
    r"(?:sqlite3|django\.db\.utils|psycopg\.errors|psycopg)\.OperationalError"
    r"|_internal\.\w+"  # Delta's own
    r"|(?:py4j\.protocol|pyspark\.errors\.[\w.]+)\.\w+"
)
"""The errors of what writes to this disk.  In others the words may be those of a stranger's server,
or of a message: they are no proof.
"""

_OF_RUST = re.compile(rf"\(os error (?:{'|'.join(map(str, sorted(_CODES)))})\)")
"""The spelling by delta-rs of a system error's number, in an OSError without one."""


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
    >>> is_disk_full(ValueError("No space left on device"))
    False
    """
    while error is not None:
        if (
            isinstance(error, DiskFullError)
            or (isinstance(error, OSError) and error.errno in _CODES)
            or getattr(error, "sqlstate", None) == _POSTGRESQL
            or _says_full(error)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def _says_full(error: BaseException) -> bool:
    """Return whether an error of what writes to this disk says in words that it is full."""
    kind = type(error)
    if isinstance(error, OSError):
        return kind is OSError and error.errno is None and bool(_OF_RUST.search(str(error)))
    return _WRITERS.fullmatch(f"{kind.__module__}.{kind.__name__}") is not None and any(
        phrase in str(error) for phrase in _PHRASES
    )
