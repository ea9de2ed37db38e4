"""Write files so that they are whole or not there, also after a power failure (POSIX fsync).

draft ─ write ─ fsync ─> rename or link ─ fsync the directory ─> there, for good
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

GONE = ".gone"
"""The end of the name of a directory that is being deleted."""


@contextmanager
def whole_file(path: Path, *, synced: bool = True) -> Iterator[IO[bytes]]:
    """Yield a draft that becomes the file at ``path`` once the block ends without an error.

    Without ``synced``, a power failure may leave a file that is not whole.
    """
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        with draft.open("wb") as file:
            yield file
            if synced:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if synced:
        sync_directory(path.parent)


def remove_directory(path: Path) -> None:
    """Delete a directory as a whole, if it is there: whoever is killed meanwhile leaves no part.

    What was left so is deleted with the next, under names that begin with that of the directory.
    """
    with suppress(FileNotFoundError):
        path.rename(path.with_name(f"{path.name}.{secrets.token_hex(4)}{GONE}"))
        sync_directory(path.parent)
    for left in path.parent.glob(f"{path.name}.*{GONE}"):
        shutil.rmtree(left, ignore_errors=True)


def make_directory(path: Path, mode: int = 0o777) -> None:
    """Have a directory, and those above it; the names of new ones are on the disk afterwards."""
    missing = [directory for directory in (path, *path.parents) if not directory.is_dir()]
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    for directory in missing:
        sync_directory(directory.parent)


def sync_file(path: Path) -> None:
    """Have the content of a file on the disk when this returns."""
    _sync(path, os.O_RDONLY)


def sync_directory(path: Path) -> None:
    """Have the names in a directory on the disk when this returns."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
