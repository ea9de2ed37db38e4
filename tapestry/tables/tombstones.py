"""What was removed for its age: so that no message of it is taken in again.

A mailbox or Maildir may hold mail longer than it is kept here, and may be read again from its
start.  What remains of a removed message is a 64-bit hash of its Message-ID, among those of its
audience: files of sorted hashes, mapped into memory.  Unlike the index they cannot be made anew.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

import numpy as np

from tapestry.core.sorted_hashes import Hashes, contains, hash_texts, write_whole

_ATTEMPTS = 20


def add_tombstones(root: Path, audience: str, msgids: Iterable[str]) -> None:
    """Record that these messages are removed; one process at a time may."""
    directory = _directory(root, audience)
    directory.mkdir(parents=True, exist_ok=True)
    found = np.unique(hash_texts(msgids))
    smaller = []
    for path in sorted(_files(directory), key=lambda path: path.stat().st_size):
        if path.stat().st_size > 2 * found.nbytes:
            break  # so that a hash is written again a logarithmic number of times
        found = np.union1d(found, _read(path))
        smaller.append(path)
    write_whole(directory / f"{uuid4()}.hashes", found)
    for path in smaller:
        path.unlink()


def find_tombstones(root: Path, audience: str, msgids: Iterable[str]) -> set[str]:
    """Return those of some messages that were removed from an audience for their age."""
    directory = _directory(root, audience)
    asked = list(msgids)
    wanted = hash_texts(asked)
    for _ in range(_ATTEMPTS):
        try:
            runs = [_read(path) for path in _files(directory)]
        except FileNotFoundError:
            continue  # merged meanwhile: what it held is in another
        known = np.zeros(len(asked), dtype=bool)
        for run in runs:
            known |= contains(run, wanted)
        return {msgid for msgid, is_known in zip(asked, known, strict=True) if is_known}
    return set()


def mark_history_incomplete(root: Path) -> None:
    """Record that rows were removed of which filters are not told."""
    _noted(root).parent.mkdir(parents=True, exist_ok=True)
    _noted(root).touch()


def is_history_complete(root: Path) -> bool:
    """Return whether no row was ever removed of which filters are not told."""
    return not _noted(root).exists()


def delete_tombstones(root: Path, audience: str) -> None:
    """Delete what is recorded of an audience."""
    shutil.rmtree(_directory(root, audience), ignore_errors=True)


def _read(path: Path) -> Hashes:
    return np.asarray(np.memmap(path, dtype="<u8", mode="r"))


def _files(directory: Path) -> list[Path]:
    return list(directory.glob("*.hashes"))


def _noted(root: Path) -> Path:
    return root / "removed" / "rows"


def _directory(root: Path, audience: str) -> Path:
    name = hashlib.blake2b(audience.encode(), digest_size=16).hexdigest()
    return root / "removed" / name
