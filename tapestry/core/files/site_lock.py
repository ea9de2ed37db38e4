"""Locks that hold between all processes of a site, on one machine or several.

They are locks of files (``file_lock``), until the application says that a database has them: no
two machines agree for sure on the lock of a file that they share.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from tapestry.core.files import file_lock


class DatabaseLocks(Protocol):
    """Locks in a database, named as files; the database releases those of a process that ends."""

    def hold(self, path: Path, wait: float, *, shared: bool) -> AbstractContextManager[bool]:
        """Hold a lock, alone or with others; yield whether it was acquired within ``wait``."""

    def is_held(self, path: Path) -> bool:
        """Return whether anybody holds a lock, alone or with others."""


_database: list[DatabaseLocks] = []


def lock_in_database(locks: DatabaseLocks) -> None:
    """Let a database have the locks from now on."""
    _database[:] = [locks]


def site_lock(path: Path, *, wait: float = 0.0) -> AbstractContextManager[bool]:
    """Hold a lock for the length of the block; yield whether it was acquired.

    It is not if another holder keeps it for ``wait`` seconds.  Raises OSError if its file cannot be
    made.
    """
    if _database:
        return _database[0].hold(path, wait, shared=False)
    return file_lock.file_lock(path, wait=wait)


@contextmanager
def shared_site_lock(path: Path) -> Iterator[None]:
    """Hold a lock together with any number of others, who are not kept out."""
    with (
        _database[0].hold(path, file_lock.FOREVER, shared=True)
        if _database
        else file_lock.shared_lock(path)
    ):
        yield


def is_site_lock_held(path: Path) -> bool:
    """Return whether anybody holds a lock, alone or with others; its file is not made."""
    return _database[0].is_held(path) if _database else file_lock.is_held(path)
