"""Merge small files, so that a year of small appends reads like a few large ones."""

from __future__ import annotations

from dataclasses import dataclass

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

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

    Needs no lock: appends go on meanwhile, and readers of an older version keep their files
    for ``keep_hours``.  If another process compacts the same table, one of the two gives way.
    """
    removed = added = 0
    for table in (MESSAGES, ANNOTATIONS):
        log = tables.open(table)
        try:
            done = log.optimize.compact(target_size=target, writer_properties=WRITER)
        except CommitFailedError:
            continue
        removed += done["numFilesRemoved"]
        added += done["numFilesAdded"]
        if done["numFilesRemoved"]:
            _drop_old_files(log, keep_hours)
    return Compaction(removed, added)


def _drop_old_files(log: DeltaTable, keep_hours: int) -> None:
    log.vacuum(retention_hours=keep_hours, dry_run=False, enforce_retention_duration=False)
