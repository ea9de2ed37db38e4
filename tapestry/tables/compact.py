"""Merge small files, so that a year of small appends reads like a few large ones."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from deltalake import DeltaTable

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.append import WRITER
from tapestry.tables.log import Tables

TARGET = 128 * 1024 * 1024
"""Bytes of a merged file."""

KEEP_HOURS = 7 * 24
"""How long files that were merged away stay, for the runs that still read them."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """How many files were merged into how many."""

    removed: int
    added: int


def compact(tables: Tables, target: int = TARGET, keep_hours: int = KEEP_HOURS) -> Compaction:
    """Merge the small files of both tables; rows, ``ts``, statistics and cursors stay.

    Appends go on meanwhile, and readers of an older version keep their files for
    ``keep_hours``.  If another process is compacting these tables, nothing is done.
    """
    with _alone(tables) as alone:
        return _compact(tables, target, keep_hours) if alone else Compaction(0, 0)


def _compact(tables: Tables, target: int, keep_hours: int) -> Compaction:
    removed = added = 0
    for table in (MESSAGES, ANNOTATIONS):
        log = tables.open(table)
        done = log.optimize.compact(target_size=target, writer_properties=WRITER)
        removed += done["numFilesRemoved"]
        added += done["numFilesAdded"]
        if done["numFilesRemoved"]:
            _drop_old_files(log, keep_hours)
    return Compaction(removed, added)


def _drop_old_files(log: DeltaTable, keep_hours: int) -> None:
    log.vacuum(retention_hours=keep_hours, dry_run=False, enforce_retention_duration=False)


@contextmanager
def _alone(tables: Tables) -> Iterator[bool]:
    """Hold the one right to compact these tables on this machine; False if another has it.

    delta-rs lets two compactions of the same files both commit, and every row of theirs is
    then there twice: neither app transactions nor a limit on retries makes it refuse.
    """
    tables.root.mkdir(parents=True, exist_ok=True)
    with (tables.root / "compact.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
