"""Remove rows for good: from the tables, the originals, the index and the history.

The tables are append-only, except that a person's mail can be forgotten, and mail can have a
retention time.  Files with such rows are written again without them, and the old ones are
deleted; so are the log's older entries and the index.
"""

from __future__ import annotations

import logging
import shutil
import time
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.file_lock import FOREVER, file_lock
from tapestry.core.log import event
from tapestry.core.ports import Clock
from tapestry.core.schema import ANNOTATIONS, INDEXED, KEY_COLUMN, MESSAGES
from tapestry.tables.compact import KEEP_HOURS, drop_old_files, replace
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import drop_history, make_checkpoint
from tapestry.tables.delta.parquet_file import read_parquet
from tapestry.tables.hash_runs import extend_index
from tapestry.tables.rows import ORIGINALS
from tapestry.tables.tombstones import add_tombstones, delete_tombstones, mark_history_incomplete

TABLES = (ORIGINALS, MESSAGES, ANNOTATIONS)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows were removed of each table, and the keys of messages and annotations."""

    rows: dict[str, int]
    keys: frozenset[str]


def forget(tables: Tables, clock: Clock, audience: str, before: int | None = None) -> Forgotten:
    """Remove the rows of an audience, or only those older than ``before``.

    Waits for a compaction.  Without ``before`` the old files are deleted at once, and a run that
    reads them fails and is repeated.  With it they stay for a day, as after a compaction, and
    tombstones prevent the messages from being ingested again.
    """

    def keep(rows: pa.Table) -> pa.Table:
        return rows.filter(pc.invert(_is_of_audience(rows, audience, before)))

    start = time.perf_counter()
    rows = dict.fromkeys(TABLES, 0)
    keys: set[str] = set()
    with file_lock(tables.root / "compact.lock", wait=FOREVER):
        for table in TABLES:
            for data_file in tables.data_files(table):
                if before is not None and data_file.min_ts >= before:
                    continue
                removed = _keys_of_audience(data_file, table, audience, before)
                if not removed:
                    continue
                if before is not None:
                    mark_history_incomplete(tables.root)
                    if table == MESSAGES:
                        add_tombstones(tables.root, audience, removed)
                replace(tables.open(table), table, [data_file], keep)
                rows[table] += len(removed)
                keys.update(removed if table != ORIGINALS else ())
        for table in TABLES:
            if before is None:
                with clock.lock():
                    drop_old_files(tables.open(table), 0, stray=True)
                    opened = tables.open(table)
                    make_checkpoint(opened, tables.root / table)
                    drop_history(tables.root / table, opened.version())
            elif any(rows.values()):
                drop_old_files(tables.open(table), KEEP_HOURS)
        if before is None:
            delete_tombstones(tables.root, audience)
        if any(rows.values()):
            shutil.rmtree(tables.root / "index", ignore_errors=True)
            for table in INDEXED:
                extend_index(tables, table)
    seconds = time.perf_counter() - start
    event(log, "forget", audience=audience, before=before, **rows, seconds=seconds)
    return Forgotten(rows, frozenset(keys))


def _is_of_audience(rows: pa.Table, audience: str, before: int | None) -> pa.Array:
    mask = pc.equal(rows["audience"], audience)
    return mask if before is None else pc.and_(mask, pc.less(rows["ts"], before))


def _keys_of_audience(file: DataFile, table: str, audience: str, before: int | None) -> list[str]:
    key = KEY_COLUMN.get(table, "msgid")
    rows = read_parquet(file.path, ["audience", "ts", key])
    keys: list[str] = rows.filter(_is_of_audience(rows, audience, before))[key].to_pylist()
    return keys
