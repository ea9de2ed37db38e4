"""Commit rows to a log: one Parquet file, and one entry of the log that adds it.

    rows ─> part-….parquet ─ fsync ─> add, app transactions ─> entry 0…0124.json ─> checkpoint

delta-rs would write the same, in a time that grows with the files of the table.  An entry gets
its number by a hard link from a finished file (put if absent): whole or not at all, and only
one gets each number.  All that it names is on the disk before it has its number.  An append
conflicts with no other commit: it takes the next number if another was faster.  Every some
commits delta-rs makes a checkpoint, from which a log is read.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake.exceptions import DeltaError

from tapestry.tables.delta.data_files import bounds_of, statistics
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import make_checkpoint
from tapestry.tables.delta.log_entry import add_action, put_entry
from tapestry.tables.delta.parquet_file import write_parquet
from tapestry.tables.rows import REPEATING, row_group_rows

log = logging.getLogger(__name__)

CHECKPOINT_EVERY = 100
"""Commits after which a checkpoint is made, at least."""

_PART_OF_A_CHECKPOINT = 50
"""A checkpoint is due when the commits since are one to so many of its actions.

So an append pays for a constant part of it, whatever the log holds.
"""


def commit(
    tables: Tables,
    table: str,
    rows: pa.Table,
    transactions: Mapping[str, int],
    information: Mapping[str, str],
) -> None:
    """Append rows, which have their ``ts``, in one commit with app transactions.

    Raise TapestryError if they cannot be written; then nothing is committed.
    """
    files = [write_file(tables, table, rows)] if rows.num_rows else []
    commit_files(tables, table, files, transactions, information)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A data file that is no part of its table yet, and the action that will add it."""

    path: Path
    add: Mapping[str, Any]


def write_file(tables: Tables, table: str, rows: pa.Table) -> WrittenFile:
    """Write rows, which have their ``ts``, to a file that no reader sees before its commit.

    Raise TapestryError if they cannot be written.
    """
    with _written(tables, table):
        path = write_parquet(tables.root / table, rows, row_group_rows(table), REPEATING)
        stats = statistics(rows.num_rows, bounds_of(table, rows))
        return WrittenFile(path, add_action(path, stats, data_change=True))


def commit_files(
    tables: Tables,
    table: str,
    files: Sequence[WrittenFile],
    transactions: Mapping[str, int],
    information: Mapping[str, str],
) -> None:
    """Make files part of a table, all in one commit with app transactions.

    Raise TapestryError if that cannot be; then nothing is committed, and the files are deleted.
    """
    actions: list[dict[str, Any]] = [dict(file.add) for file in files]
    actions += [
        {"txn": {"appId": source, "version": version}} for source, version in transactions.items()
    ]
    with _written(tables, table):
        try:
            put_next(tables, table, actions, information)
        except OSError:
            delete_files(files)
            raise


def delete_files(files: Sequence[WrittenFile]) -> None:
    """Delete files that were not committed."""
    for file in files:
        file.path.unlink(missing_ok=True)


@contextmanager
def _written(tables: Tables, table: str) -> Iterator[None]:
    root = tables.root / table
    hint = "Make room on the disk, or make the directory yours to write; then run it again."
    with explained(f"New rows cannot be written to {root}", hint):
        tables.version(table)  # creates the table
        yield


def put_next(
    tables: Tables,
    table: str,
    actions: Sequence[Mapping[str, Any]],
    information: Mapping[str, str],
) -> None:
    """Make actions the next entry of a log."""
    described = {"operation": "WRITE", "operationParameters": {"mode": "Append"}, **information}
    root = tables.root / table
    while not put_entry(root, tables.version(table)[0] + 1, actions, described):
        pass


def checkpoint_if_due(tables: Tables, table: str) -> None:
    """Make a checkpoint of a log that many commits were added to; its oldest entries go.

    An error is only logged: the log can be read without it.
    """
    last, actions = _last_checkpoint(tables.root / table)
    version, _ = tables.version(table)
    if version - last < max(CHECKPOINT_EVERY, actions // _PART_OF_A_CHECKPOINT):
        return
    try:
        make_checkpoint(tables.open(table), tables.root / table)
    except (DeltaError, OSError) as error:
        log.warning("The log of %s gets no checkpoint: %s", table, error)


def _last_checkpoint(root: Path) -> tuple[int, int]:
    """Return the version of the last checkpoint and its number of actions; -1 and 0 without one."""
    try:
        last = json.loads((root / "_delta_log" / "_last_checkpoint").read_bytes())
        return int(last["version"]), int(last.get("size") or 0)
    except (OSError, ValueError, KeyError):
        return -1, 0
