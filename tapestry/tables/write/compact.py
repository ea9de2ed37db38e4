"""Compaction: merge small files, so that a year of small appends reads like a few large ones.

Files next to each other in time become one, with its rows in the order of ``ts``: a slice of
time is then a few row groups.  (The compaction of delta-rs orders files by their size.)  The
files form tiers, as in an LSM tree: a file is merged with later ones only when these amount to
half of it, so that a row is written a logarithmic number of times.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice, pairwise, takewhile
from operator import attrgetter
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.disk_space import has_room
from tapestry.core.files.site_lock import site_lock
from tapestry.core.log import event
from tapestry.core.schema import ANNOTATIONS, INDEXED, MESSAGES, THREADS
from tapestry.tables.delta.data_files import (
    UNKNOWN,
    Bounds,
    DataFile,
    DataFiles,
    bounds_of,
    data_files_of,
    root_of,
    statistics,
)
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.draft import Draft
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import make_checkpoint
from tapestry.tables.delta.log_entry import name_in_log, remove_action
from tapestry.tables.delta.parquet_file import new_parquet_file, open_parquet, read_parquet
from tapestry.tables.keys.hash_runs import extend_index
from tapestry.tables.rows import (
    ORIGINALS,
    REPEATING,
    arrow_schema,
    bounded,
    ordered,
    row_group_rows,
)
from tapestry.tables.write.staging import drop_abandoned

TARGET = 128 * 1024 * 1024
"""Bytes of a merged file."""

LARGEST_GROUP = 64 * 1024 * 1024
"""Bytes of a row group, before compression; only larger messages make it larger."""

KEEP_HOURS = 24
"""The time for which merged files stay, for runs that read an older snapshot."""

ABANDONED_HOURS = 7 * 24
"""The time for which an import that nobody goes on with stays."""

SMALL = 1024 * 1024
"""Bytes below which a file is small."""

MOST_SMALL = 64
"""Small files that may accumulate at the end of a log before they are merged."""

MOST_MERGED = 256
"""Files that ``compact_small_files`` merges, at most: it is called between appends."""

Keep = Callable[[pa.Table], pa.Table]
"""Return those of the rows that are kept."""

_TABLES = (MESSAGES, ANNOTATIONS, THREADS, ORIGINALS)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compaction:
    """Numbers of files that were removed, and of those that were added in their place."""

    removed: int
    added: int


def compact(
    tables: Tables,
    target: int = TARGET,
    keep_hours: int = KEEP_HOURS,
    abandoned_hours: int = ABANDONED_HOURS,
) -> Compaction:
    """Merge the small files of the tables, and extend the index; rows, ``ts`` and cursors stay.

    Appends go on meanwhile, and readers of an older version keep their files for
    ``keep_hours``.  Imports that were abandoned are dropped.  Does nothing if another process is
    compacting these tables: two at once could write the same rows twice.  With little room on the
    disk it only deletes old files.
    """
    start = time.perf_counter()
    removed = added = 0
    room = has_room(tables.root)
    with site_lock(tables.root / "compact.lock") as acquired:
        for table in _TABLES if acquired else ():
            opened = tables.open(table)
            groups = mergeable(data_files_of(opened), target) if room else []
            for group in groups:
                try:
                    replace(opened, table, group, lambda rows: rows)
                except DamagedFileError as error:
                    log.error("%s", error.message)  # what is whole is merged all the same
                    continue
                removed += len(group)
                added += 1
            if groups or not room:
                drop_old_files(tables.open(table), keep_hours)
            if table in INDEXED and room:
                try:
                    extend_index(tables, table)
                except DamagedFileError as error:
                    log.error("%s", error.message)  # rows are found without it
    drop_abandoned(tables, abandoned_hours)
    seconds = time.perf_counter() - start
    event("compaction", ran=acquired, removed=removed, added=added, seconds=seconds)
    return Compaction(removed, added)


def compact_small_files(tables: Tables, most: int = MOST_SMALL) -> Compaction:
    """Merge the small files at the end of each log that has ``most`` or more (minor compaction).

    Call it after an append: nearly always it only counts files.  The files merged away are
    deleted by ``compact`` in its time.  What cannot be merged stays, with a line of the log.
    """
    tails = {table: _small_tail(tables.data_files(table)) for table in _TABLES}
    if all(len(tail) < most for tail in tails.values()):
        return Compaction(0, 0)
    start = time.perf_counter()
    removed = added = 0
    with site_lock(tables.root / "compact.lock") as acquired:
        for table in _TABLES if acquired else ():
            tail = _small_tail(tables.data_files(table))
            if len(tail) >= most:
                try:
                    replace(tables.open(table), table, tail, lambda rows: rows)
                except TapestryError as error:
                    log.warning("%s", error.message)
                    continue
                removed += len(tail)
                added += 1
    seconds = time.perf_counter() - start
    event("minor_compaction", ran=acquired, removed=removed, added=added, seconds=seconds)
    return Compaction(removed, added)


def _small_tail(data_files: DataFiles) -> list[DataFile]:
    """Return the newest files before which there is one that is not small, or too many."""
    newest = islice(reversed(data_files), MOST_MERGED)
    return list(takewhile(lambda data_file: data_file.bytes < SMALL, newest))[::-1]


def mergeable(data_files: Sequence[DataFile], target: int) -> list[list[DataFile]]:
    """Return the files to merge: neighbours in time, of like size, up to ``target`` bytes.

    >>> files = [DataFile(name, 1, ts, ts, bytes=size) for ts, (name, size) in enumerate(
    ...     [("large", 90), ("a", 10), ("b", 10)])]
    >>> [[data_file.path for data_file in group] for group in mergeable(files, target=100)]
    [['a', 'b']]
    """
    groups: list[list[DataFile]] = []
    group: list[DataFile] = []
    size = 0
    for data_file in sorted(data_files, key=lambda f: (f.min_ts, f.max_ts), reverse=True):
        if group and (data_file.bytes > 2 * size or size + data_file.bytes > target):
            groups.append(group)
            group, size = [], 0
        group.append(data_file)
        size += data_file.bytes
    groups.append(group)
    return [group[::-1] for group in groups if len(group) > 1]


def replace(opened: DeltaTable, table: str, data_files: Sequence[DataFile], keep: Keep) -> None:
    """Replace files by one with those of their rows that are kept, or by none, in one commit.

    Raise TapestryError if the new file cannot be written.
    """
    root = root_of(opened)
    with Draft(root) as draft, merging(root):
        rewrite(draft, table, data_files, keep)
        commit_rewritten(draft)


def merging(root: Path) -> AbstractContextManager[None]:
    """Raise errors of Delta and of the disk as a TapestryError that says what cannot be done."""
    return explained(f"The files of {root} cannot be merged")


def rewrite(draft: Draft, table: str, data_files: Sequence[DataFile], keep: Keep) -> None:
    """Let a draft replace files by one with those of their rows that are kept, or by none."""
    written, rows, bounds = _write_sorted(draft.root, table, data_files, keep)
    draft.own(written)
    draft.actions += [
        remove_action(draft.root, data_file.path, data_file.bytes) for data_file in data_files
    ]
    if rows:
        draft.add(written, statistics(rows, bounds), data_change=False)
    else:
        written.unlink()


def commit_rewritten(draft: Draft) -> None:
    """Commit a draft of ``rewrite`` after the newest version, if that has all files it replaces.

    Others append meanwhile.  Raise TapestryError if one has replaced files, who took the lock while
    this process was paused: the same rows would be there twice.
    """
    tables, table, replaced = Tables(draft.root.parent), draft.root.name, draft.removed()
    while True:
        version, files = tables.version(table)
        if not replaced <= {name_in_log(draft.root, data_file.path) for data_file in files}:
            raise TapestryError(
                f"Another process has replaced files of {draft.root} meanwhile.",
                hint="Run it again.",
            )
        if draft.commit(version + 1, {"operation": "OPTIMIZE"}):
            return


def _write_sorted(
    root: Path, table: str, data_files: Sequence[DataFile], keep: Keep
) -> tuple[Path, int, dict[str, Bounds]]:
    """Write the kept rows of files as one Parquet file, sorted as ``rows.ORDER`` says.

    Return the file, the number of its rows, and the bounds that the log stores.
    """
    schema = arrow_schema(table)
    waiting = schema.empty_table()
    row_count, bounds = 0, dict.fromkeys(bounded(table), UNKNOWN[::-1])
    size = row_group_rows(table)
    with new_parquet_file(root, schema, REPEATING) as new:
        for rows in map(keep, _in_order(table, data_files)):
            if not rows.num_rows:
                continue
            row_count += rows.num_rows
            for column, (low, high) in bounds_of(table, rows).items():
                bounds[column] = min(low, bounds[column][0]), max(high, bounds[column][1])
            waiting = pa.concat_tables([waiting, rows])
            if waiting.num_rows >= size or waiting.nbytes >= LARGEST_GROUP:
                full = waiting.num_rows - waiting.num_rows % size or waiting.num_rows
                new.writer.write_table(waiting.slice(0, full), row_group_size=size)
                waiting = waiting.slice(full)
        new.writer.write_table(waiting, row_group_size=size)
    return new.path, row_count, bounds


def _in_order(table: str, data_files: Sequence[DataFile]) -> Iterator[pa.Table]:
    """Yield the rows of files in the order of ``ts``, a row group at a time where possible."""
    schema = arrow_schema(table)
    in_time = sorted(data_files, key=attrgetter("min_ts", "min_received"))
    if any(later.min_ts < earlier.max_ts for earlier, later in pairwise(in_time)):
        groups = chain.from_iterable(_row_groups(data_file, schema) for data_file in in_time)
        yield ordered(table, pa.concat_tables(groups))
        return
    for data_file in in_time:
        if _is_sorted(data_file):
            yield from _row_groups(data_file, schema)
        else:  # merged by another program
            yield ordered(table, pa.concat_tables(_row_groups(data_file, schema)))


def _is_sorted(data_file: DataFile) -> bool:
    ts = read_parquet(data_file.path, ["ts"])["ts"].to_numpy()
    return bool((ts[1:] >= ts[:-1]).all())


def _row_groups(data_file: DataFile, schema: pa.Schema) -> Iterator[pa.Table]:
    with open_parquet(data_file.path) as file:
        for number in range(file.num_row_groups):
            rows = file.read_row_group(number, columns=schema.names)
            yield rows.select(schema.names).cast(schema)


def drop_old_files(opened: DeltaTable, keep_hours: int, stray: bool | None = None) -> int:
    """Delete the files that only versions older than ``keep_hours`` need, and make a checkpoint.

    ``stray`` deletes files of no version too.  A young one may belong to an append that has not
    committed yet: by default they are deleted only if ``keep_hours`` is a day or more.
    Return the version of the checkpoint.
    """
    unneeded = opened.vacuum(  # which, if it deleted them, would write entries that are not synced
        retention_hours=keep_hours,
        dry_run=True,
        enforce_retention_duration=False,
        full=keep_hours >= 24 if stray is None else stray,
    )
    for name in unneeded:
        (root_of(opened) / name).unlink(missing_ok=True)
    # A reader that opens the table reads the log from the checkpoint on, not from its start.
    return make_checkpoint(root_of(opened))
