"""Remove rows for good: from the tables, the originals, the index and the history.

Tables only ever grow, but for this: somebody's private mail is to be forgotten, or is older
than it may be kept.  Files with such rows are written anew without them and the old ones
deleted; so are the log's older entries and the index.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tapestry.core.file_lock import alone
from tapestry.core.ports import Clock
from tapestry.core.schema import ANNOTATIONS, INDEXED, KEY_COLUMN, MESSAGES
from tapestry.tables.compact import KEEP_HOURS, drop_old_files, replace
from tapestry.tables.hash_runs import extend_index
from tapestry.tables.log import DataFile, Tables, data_files_of
from tapestry.tables.rows import ORIGINALS
from tapestry.tables.tombstones import add_tombstones, delete_tombstones, mark_history_incomplete

TABLES = (ORIGINALS, MESSAGES, ANNOTATIONS)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows were removed of each table, and the keys of messages and annotations."""

    rows: dict[str, int]
    keys: frozenset[str]


def forget(tables: Tables, clock: Clock, audience: str, before: int | None = None) -> Forgotten:
    """Remove the rows of an audience, those of before an instant if one is given.

    Waits for a compaction that is under way.  Without ``before`` the old files go at once, and
    a run that reads them fails and is repeated; with it they stay for a week, as after a
    compaction, and the messages that go are not taken in again (``removed``).
    """
    rows: dict[str, int] = {}
    keys: set[str] = set()
    with alone(tables.root / "compact.lock", wait=True):
        for table in TABLES:
            rows[table] = 0
            for data_file in data_files_of(tables.open(table)):
                if before is not None and data_file.min_ts >= before:
                    continue
                found = _found(data_file, table, audience, before)
                if not found:
                    continue
                if before is not None:
                    mark_history_incomplete(tables.root)
                    if table == MESSAGES:
                        add_tombstones(tables.root, audience, found)
                _without(tables, table, data_file, audience, before)
                rows[table] += len(found)
                keys.update(found if table != ORIGINALS else ())
        for table in TABLES if before is None else ():
            with clock.lock():
                drop_old_files(tables.open(table), 0, stray=True)
                _drop_history(tables, table)
        if before is None:
            delete_tombstones(tables.root, audience)
        if any(rows.values()):
            for table in TABLES if before is not None else ():
                drop_old_files(tables.open(table), KEEP_HOURS)
            shutil.rmtree(tables.root / "index", ignore_errors=True)
            for table in INDEXED:
                extend_index(tables, table)
    return Forgotten(rows, frozenset(keys))


def _is_theirs(rows: pa.Table, audience: str, before: int | None) -> pa.Array:
    theirs = pc.equal(rows["audience"], audience)
    return theirs if before is None else pc.and_(theirs, pc.less(rows["ts"], before))


def _found(data_file: DataFile, table: str, audience: str, before: int | None) -> list[str]:
    key = KEY_COLUMN.get(table, "msgid")
    with pq.ParquetFile(data_file.path) as file:
        rows = file.read(columns=["audience", "ts", key])
    found: list[str] = rows.filter(_is_theirs(rows, audience, before))[key].to_pylist()
    return found


def _without(
    tables: Tables, table: str, data_file: DataFile, audience: str, before: int | None
) -> None:
    def keep(rows: pa.Table) -> pa.Table:
        return rows.filter(pc.invert(_is_theirs(rows, audience, before)))

    replace(tables.open(table), table, [data_file], keep)


def _drop_history(tables: Tables, table: str) -> None:
    """Delete the entries of the log from before a checkpoint made now."""
    log = tables.open(table)
    log.create_checkpoint()
    for entry in _entries(tables.root / table / "_delta_log"):
        if int(entry.name.partition(".")[0]) < log.version():
            entry.unlink(missing_ok=True)


def _entries(directory: Path) -> Sequence[Path]:
    return [path for path in directory.iterdir() if path.name.partition(".")[0].isdigit()]
