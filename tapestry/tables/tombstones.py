"""Tombstones of messages that were removed for their age, so that none is ingested again.

A folder or Maildir may hold mail for longer than Tapestry does, and may be read again from its
start.  The tombstone of a message is a 64-bit hash of its Message-ID, in sorted runs for each
audience.  Unlike the index, tombstones cannot be built again from the tables.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import numpy as np

from tapestry.core.errors import TapestryError
from tapestry.core.files.checksummed_file import ChecksummedFile, write_checksummed
from tapestry.core.files.damage import DamagedFileError, mended
from tapestry.core.files.durable import make_directory, sync_directory, whole_file
from tapestry.core.files.sorted_hashes import Hashes, contains, hash_texts
from tapestry.core.message import audience_digest

SUFFIX, COPY = ".tombstones", ".copy"
"""Of the runs' files and, after it, of their copies."""

_ATTEMPTS = 20


def add_tombstones(root: Path, audience: str, msgids: Iterable[str]) -> None:
    """Record that messages are removed; call it from one process at a time."""
    directory = _directory(root, audience)
    make_directory(directory)
    merged = np.unique(hash_texts(msgids))
    smaller = []
    for path in sorted(_files(directory), key=lambda path: path.stat().st_size):
        if path.stat().st_size > 2 * merged.nbytes:
            break  # so that a hash is written a logarithmic number of times
        merged = np.union1d(merged, _read(path))
        smaller.append(path)
    name = f"{uuid4()}{SUFFIX}"
    for path in (directory / f"{name}{COPY}", directory / name):
        write_checksummed(path, merged.tobytes())
    for path in smaller:
        path.unlink()
        copy_of(path).unlink(missing_ok=True)


def find_tombstones(root: Path, audience: str, msgids: Iterable[str]) -> set[str]:
    """Return those of the messages that were removed from an audience for their age."""
    directory = _directory(root, audience)
    candidates = list(msgids)
    wanted = hash_texts(candidates)
    for _ in range(_ATTEMPTS):
        paths = _files(directory)
        try:
            runs = [_known(path) for path in paths]
        except FileNotFoundError:
            continue  # merged meanwhile: its entries are in another file
        if _files(directory) != paths:
            continue  # a merge may have been listed half-way
        known = np.zeros(len(candidates), dtype=bool)
        for run in runs:
            known |= contains(run, wanted)
        return {msgid for msgid, is_known in zip(candidates, known, strict=True) if is_known}
    raise TapestryError(
        f"What was removed of {audience} cannot be read: it is being written all the time.",
        hint="Run it again.",
    )


def tombstone_version(root: Path, audience: str) -> frozenset[str]:
    """Return a value that changes whenever tombstones are added for an audience."""
    return frozenset(path.name for path in _files(_directory(root, audience)))


def mark_history_incomplete(root: Path) -> None:
    """Record that rows were removed without a change for the filters that saw them."""
    make_directory(_marker(root).parent)
    _marker(root).touch()
    sync_directory(_marker(root).parent)


def is_history_complete(root: Path) -> bool:
    """Return whether no row was ever removed that filters still may count on."""
    return not _marker(root).exists()


def delete_tombstones(root: Path, audience: str) -> None:
    """Delete the tombstones of an audience."""
    shutil.rmtree(_directory(root, audience), ignore_errors=True)


def copy_of(path: Path) -> Path:
    """Return the copy of a run."""
    return path.with_name(path.name + COPY)


def other_of(path: Path) -> Path:
    """Return the copy of a run, or the run that a copy is of."""
    return path.with_name(path.name.removesuffix(COPY)) if path.suffix == COPY else copy_of(path)


def tombstone_files(root: Path) -> list[Path]:
    """Return the runs of all audiences."""
    return [path for directory in (root / "removed").glob("*/") for path in _files(directory)]


def mend(path: Path) -> None:
    """Write a damaged run or copy back from the other; DamagedFileError if neither is whole."""
    other = other_of(path)
    try:
        ChecksummedFile(other).read()
    except FileNotFoundError:
        raise DamagedFileError(path, "so is its copy, or there is none") from None
    with whole_file(path) as file:
        file.write(other.read_bytes())


def _known(path: Path) -> Hashes:
    """Return the hashes of a run, which is read again only if its file is another."""
    status = path.stat()
    return _opened(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _opened(path: Path, inode: int, changed: int, size: int) -> Hashes:
    return _read(path)


def _read(path: Path) -> Hashes:
    try:
        content = ChecksummedFile(path).read()
    except DamagedFileError as error:
        mend(path)
        mended(path, error.reason, "written again from its copy")
        content = ChecksummedFile(path).read()
    hashes: Hashes = content.view("<u8")
    return hashes


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"*{SUFFIX}"))


def _marker(root: Path) -> Path:
    return root / "removed" / "rows"


def _directory(root: Path, audience: str) -> Path:
    return root / "removed" / audience_digest(audience)
