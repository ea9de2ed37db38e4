"""Tombstones of messages that were removed for their age, so that none is ingested again.

A folder or Maildir may hold mail for longer than Tapestry does, and may be read again from its
start.  The tombstone of a message is a 64-bit hash of its Message-ID, in sorted runs for each
audience.  Unlike the index, tombstones cannot be built again from the tables: they are mirrored.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tapestry.core.errors import TapestryError
from tapestry.core.files.durable import make_directory, sync_directory
from tapestry.core.files.mirror import is_mirror, mirrors_of, remove_mirrored
from tapestry.core.files.sorted_hashes import SortedHashes, hash_texts
from tapestry.core.message import audience_digest
from tapestry.tables.keys.runs import SUFFIX, Runs, end_of


def add_tombstones(root: Path, audience: str, msgids: Iterable[str]) -> None:
    """Record that messages are removed.

    Call it from one process at a time: of two, one of which lost its lock while it was paused,
    neither deletes what the other wrote.
    """
    stored = _runs(root, audience)
    make_directory(stored.directory)
    hashes, runs = np.unique(hash_texts(msgids)), stored.listed()
    nothing = np.empty((len(hashes), 0), dtype=np.int64)
    unique = max(end_of(runs) + 1, time.time_ns())
    for run in stored.add(runs, unique, SortedHashes(hashes, nothing)):
        remove_mirrored(Path(run.path))


def find_tombstones(root: Path, audience: str, msgids: Iterable[str]) -> set[str]:
    """Return those of the messages that were removed from an audience for their age."""
    candidates = list(msgids)
    wanted = hash_texts(candidates)
    masks = _runs(root, audience).read(lambda run: run.contains(wanted))
    if masks is None:
        raise TapestryError(
            f"What was removed of {audience} cannot be read: it is being written all the time.",
            hint="Run it again.",
        )
    removed = np.logical_or.reduce([np.zeros(len(candidates), dtype=bool), *masks[0]])
    return {candidates[int(number)] for number in np.flatnonzero(removed)}


def tombstone_version(root: Path, audience: str) -> frozenset[str]:
    """Return a value that changes whenever tombstones are added for an audience."""
    return frozenset(path.name for path in _runs(root, audience).directory.glob(f"*{SUFFIX}"))


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
    directory = _runs(root, audience).directory
    for path in (mirrors_of(directory), directory):
        shutil.rmtree(path, ignore_errors=True)


def tombstone_directories(root: Path) -> list[Path]:
    """Return the directories of the runs of all audiences."""
    return [path for path in (root / "removed").glob("*/") if not is_mirror(path)]


def _marker(root: Path) -> Path:
    return root / "removed" / "rows"


def _runs(root: Path, audience: str) -> Runs:
    return Runs(root / "removed" / audience_digest(audience), width=0, is_mirrored=True)
