"""The index of rows by their keys: sorted runs beside the Delta logs, merged as in an LSM tree.

    key ─ hash ─> sorted runs of (hash, ts, received) ─> the places of its rows ─> row groups

A lookup must not scan, and must be as fast in a table ten times as large.  Bloom filters and
the bounds of row groups are not enough: almost every row group holds one of a thousand keys.
A run takes 16 or 24 bytes a row, and a lookup a microsecond a key.  Files and row groups are
then pruned by the bounded instants of the table, which compaction does not change: all rows of
an import have one ``ts``, so that messages are found by ``received`` too.  A second index, of
keys with their audiences, is for readers: what they may not see is not even found, so that it
takes no time.  Each run begins at the ``ts`` where the one before ends; rows newer than the last
run are scanned.  The messages that share a Message-ID are entered under it, and are found together.
The index is derived from the logs: it can be deleted at any time, and is built again.  A run whose
checksums do not agree is deleted, with a line of the log, and counts as missing: its rows are
scanned, and are entered anew with the next extension.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tapestry.core.clock import BEGINNING
from tapestry.core.files.checksummed_file import size_with_checksums
from tapestry.core.files.damage import DamagedFileError, mended
from tapestry.core.files.file_lock import file_lock
from tapestry.core.files.sorted_hashes import (
    Hashes,
    MappedHashes,
    SortedHashes,
    hash_texts,
    run_bytes,
)
from tapestry.core.schema import INDEXED, INDEXED_BY_AUDIENCE
from tapestry.identity.content import message_id_of
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import read_parquet
from tapestry.tables.rows import bounded

log = logging.getLogger(__name__)

TAIL_FILES = 16
TAIL_ROWS = 50_000
"""Files, or rows, newer than the index from which on it is extended."""

LONGEST_RUN = 4_000_000
"""Entries of the largest merged run: it bounds the memory of a merge."""

Places = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
"""A row for each row of a table: its bounded instants, ``ts`` first."""

BY_AUDIENCE = "@audience"
"""After the name of a column: the index of its values with the audiences of their rows."""

SUFFIX = ".sorted"
"""The end of the names of the runs' files."""

_CHUNK = 1_000_000
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class SortedRun:
    """The keys of all rows with low < ts <= high, in one file of ``count`` entries.

    ``stamp`` is when the file was changed: it is verified again if that is not when it was made.
    """

    low: int
    high: int
    count: int
    path: str
    stamp: int


def indexed_places(
    root: Path, table: str, column: str, values: Sequence[str]
) -> tuple[Places, int]:
    """Return the places of the rows that may have one of the values, and the newest indexed.

    The places are in the order of ``ts``.  Rows newer than the second result are not indexed.
    """
    nowhere = np.empty((0, len(bounded(table))), dtype=np.int64)
    wanted = np.unique(hash_texts(map(message_id_of, values)))
    for _ in range(_ATTEMPTS):
        chain = sorted_runs(root, table, column)
        try:
            per_run = [_mapped(run, table).find(wanted) for run in chain]
        except FileNotFoundError:
            continue  # merged meanwhile: its entries are in another run
        except DamagedFileError as error:
            _drop(error)
            continue
        places = np.concatenate([nowhere, *per_run])
        return places[np.argsort(places[:, 0], kind="stable")], newest_indexed(chain)
    return nowhere, BEGINNING


def _mapped(run: SortedRun, table: str) -> MappedHashes:
    return _opened(run.path, run.count, len(bounded(table)), run.stamp)


@lru_cache(maxsize=64)
def _opened(path: str, count: int, width: int, stamp: int) -> MappedHashes:
    return MappedHashes(path, count, width)


def _drop(error: DamagedFileError) -> None:
    """Delete a damaged run: it is made anew, as a missing one is."""
    _opened.cache_clear()
    Path(error.path).unlink(missing_ok=True)
    mended(error.path, error.reason, "deleted; the index is made anew")


def sorted_runs(root: Path, table: str, column: str) -> list[SortedRun]:
    """Return the fewest runs that cover all indexed rows: each begins where the last ends."""
    starting: dict[int, SortedRun] = {}
    for run in stored_runs(index_directory(root, table, column), len(bounded(table))):
        if run.low not in starting or run.high > starting[run.low].high:
            starting[run.low] = run
    chain: list[SortedRun] = []
    low = BEGINNING
    while low in starting:
        chain.append(starting[low])
        low = chain[-1].high
    return chain


def newest_indexed(chain: Sequence[SortedRun]) -> int:
    """Return the newest ``ts`` that runs cover, BEGINNING if there are none."""
    return chain[-1].high if chain else BEGINNING


def stored_runs(directory: Path, width: int) -> Iterator[SortedRun]:
    """Yield the runs in a directory; those that were cut short are deleted."""
    try:
        entries = [entry for entry in os.scandir(directory) if entry.name.endswith(SUFFIX)]
    except FileNotFoundError:
        return
    for entry in entries:
        low, high, count = map(int, entry.name.removesuffix(SUFFIX).split("_"))
        with suppress(FileNotFoundError):  # merged meanwhile
            status = entry.stat()
            if status.st_size == size_with_checksums(run_bytes(count, width)):
                yield SortedRun(low, high, count, entry.path, status.st_mtime_ns)
            else:
                _drop(DamagedFileError(entry.path, "it has another size than its name says"))


def index_names(table: str) -> tuple[str, ...]:
    """Return the names of the indexes of a table: columns, some of them by audience too."""
    of_readers = (f"{column}{BY_AUDIENCE}" for column in INDEXED_BY_AUDIENCE[table])
    return (*INDEXED[table], *of_readers)


def audience_key(audience: str, value: str) -> str:
    """Return what the index by audience holds of a row.

    >>> audience_key("user:terry", "1@x.org")
    '10 user:terry 1@x.org'
    """
    return f"{len(audience)} {audience} {value}"


def index_directory(root: Path, table: str, column: str) -> Path:
    """Return where the runs of a column are."""
    return root / "index" / f"{table}.{column}"


def extend_index(tables: Tables, table: str) -> bool:
    """Extend the index of a table to its newest row; False if another process is extending it."""
    with file_lock(tables.root / "index.lock") as acquired:
        if acquired:
            data_files = tables.data_files(table)
            for column in index_names(table):
                _extend(tables.root, table, column, data_files)
        return acquired


def extend_index_if_behind(tables: Tables, table: str) -> None:
    """Extend the index of a table if too many rows are newer to scan them at each lookup."""
    runs = (sorted_runs(tables.root, table, name) for name in index_names(table))
    indexed = min(map(newest_indexed, runs))
    tail = [data_file.rows for data_file in tables.data_files(table).after(indexed)]
    if len(tail) < TAIL_FILES and sum(tail) < TAIL_ROWS:
        return
    try:
        extend_index(tables, table)
    except (DamagedFileError, OSError) as error:
        # Rows are found without it, and the append is committed.
        log.warning("The index of %s is not extended: %s", table, error)


def _extend(root: Path, table: str, column: str, data_files: DataFiles) -> None:
    directory = index_directory(root, table, column)
    directory.mkdir(parents=True, exist_ok=True)
    chain = sorted_runs(root, table, column)
    low = newest_indexed(chain)
    for chunk, high in _chunks(data_files.after(low)):
        columns = [entries_of(data_file.path, table, column) for data_file in chunk]
        keys, places = (np.concatenate(arrays) for arrays in zip(*columns, strict=True))
        new = (places[:, 0] > low) & (places[:, 0] <= high)
        run = SortedHashes.sort(keys[new], places[new])
        chain.append(_write(directory, low, high, run))
        low = high
        while len(chain) > 1:
            older, newer = chain[-2:]
            if older.count > 2 * newer.count or older.count + newer.count > LONGEST_RUN:
                break
            try:
                run = _mapped(older, table).load().merge(_mapped(newer, table).load())
            except DamagedFileError as error:
                _drop(error)
                return  # the next extension begins where the chain ends without it
            chain[-2:] = [_write(directory, older.low, newer.high, run)]
    kept = {run.path for run in chain}
    for path in directory.iterdir():
        if str(path) not in kept:
            path.unlink(missing_ok=True)


def _chunks(data_files: Sequence[DataFile]) -> Iterator[tuple[list[DataFile], int]]:
    """Yield files of about _CHUNK rows, and their newest instant; no later file is older."""
    chunk: list[DataFile] = []
    high = BEGINNING
    for data_file in sorted(data_files, key=attrgetter("min_ts")):
        if data_file.min_ts > high and sum(member.rows for member in chunk) >= _CHUNK:
            yield chunk, high
            chunk = []
        chunk.append(data_file)
        high = max(high, data_file.max_ts)
    if chunk:
        yield chunk, high


def entries_of(path: str, table: str, column: str) -> tuple[Hashes, Places]:
    """Return what the index of a column holds of a data file: hashes, and a place for each.

    ``column`` may be one by audience (``index_names``).
    """
    instants = bounded(table)
    name = column.removesuffix(BY_AUDIENCE)
    rows = read_parquet(path, [name, *instants, *(["audience"] if name != column else [])])
    rows = rows.filter(rows[name].is_valid())
    places = np.column_stack([rows[instant].to_numpy() for instant in instants])
    keys = list(map(message_id_of, rows[name].to_pylist()))
    if name != column:
        keys = list(map(audience_key, rows["audience"].to_pylist(), keys))
    return hash_texts(keys), places


def _write(directory: Path, low: int, high: int, run: SortedHashes) -> SortedRun:
    count = len(run.hashes)
    path = directory / f"{low}_{high}_{count}{SUFFIX}"
    run.write(path)
    return SortedRun(low, high, count, str(path), path.stat().st_mtime_ns)


def text_array(values: Iterable[str]) -> pa.Array:
    """Return texts as an Arrow array, sorted and distinct.

    >>> text_array(["b", "a", "b"]).to_pylist()
    ['a', 'b']
    """
    return pa.array(sorted(set(values)), type=pa.string())
