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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from deltalake.exceptions import DeltaError

from tapestry.tables.delta.data_files import bounds_of, statistics
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.draft import Confirm, Draft, of_nobody_else
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import make_checkpoint
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
    confirm: Confirm = of_nobody_else,
) -> None:
    """Append rows, which have their ``ts``, in one commit with app transactions.

    ``confirm`` raises an error if the clock's lock was lost.  Raise TapestryError if they cannot be
    written; then nothing is committed.
    """
    with Draft(tables.root / table) as draft:
        if rows.num_rows:
            write_rows(tables, table, rows, draft)
        commit_draft(tables, table, draft, transactions, information, confirm)


def write_rows(tables: Tables, table: str, rows: pa.Table, draft: Draft) -> None:
    """Write rows, which have their ``ts``, to a file of a draft.

    Raise TapestryError if they cannot be written.
    """
    stats = statistics(rows.num_rows, bounds_of(table, rows))
    with _written(tables, table):
        path = write_parquet(draft.root, rows, row_group_rows(table), REPEATING)
        draft.add(path, stats, data_change=True)


def commit_draft(
    tables: Tables,
    table: str,
    draft: Draft,
    transactions: Mapping[str, int],
    information: Mapping[str, str],
    confirm: Confirm,
) -> None:
    """Make the files of a draft part of a table, all in one commit with app transactions.

    Raise TapestryError if that cannot be; then nothing is committed.
    """
    draft.actions += [
        {"txn": {"appId": source, "version": version}} for source, version in transactions.items()
    ]
    described = {"operation": "WRITE", "operationParameters": {"mode": "Append"}, **information}
    with _written(tables, table):
        while not draft.commit(tables.version(table)[0] + 1, described, confirm):
            pass


@contextmanager
def _written(tables: Tables, table: str) -> Iterator[None]:
    with explained(f"New rows cannot be written to {tables.root / table}"):
        tables.version(table)  # creates the table
        yield


def checkpoint_if_due(tables: Tables, table: str) -> None:
    """Make a checkpoint of a log that many commits were added to; its oldest entries go."""
    last, actions = _last_checkpoint(tables.root / table)
    version, _ = tables.version(table)
    if version - last >= max(CHECKPOINT_EVERY, actions // _PART_OF_A_CHECKPOINT):
        try_checkpoint(tables.root / table)


def try_checkpoint(root: Path) -> None:
    """Make a checkpoint of a log; an error is only logged: the log can be read without it."""
    try:
        make_checkpoint(root)
    except (DeltaError, OSError) as error:
        log.warning("The log of %s gets no checkpoint: %s", root, error)


def _last_checkpoint(root: Path) -> tuple[int, int]:
    """Return the version of the last checkpoint and its number of actions; -1 and 0 without one."""
    try:
        last = json.loads((root / "_delta_log" / "_last_checkpoint").read_bytes())
        return int(last["version"]), int(last.get("size") or 0)
    except (OSError, ValueError, KeyError):
        return -1, 0
