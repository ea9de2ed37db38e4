"""The index of rows by their keys: sorted runs beside the Delta logs (tapestry.tables.keys.runs).

    key ─ hash ─> sorted runs of (hash, ts, received) ─> the places of its rows ─> row groups

A lookup must not scan, and must be as fast in a table ten times as large.  Bloom filters and
the bounds of row groups are not enough: almost every row group holds one of a thousand keys.
A run takes 16 or 24 bytes a row, and a lookup a microsecond a key.  Files and row groups are
then pruned by the bounded instants of the table, which compaction does not change: all rows of
an import have one ``ts``, so that messages are found by ``received`` too.  A second index, of
keys with their audiences, is for readers: what they may not see is not even found, so that it
takes no time.  Each run begins at the ``ts`` where the one before ends; rows newer than the last
run are scanned.  The messages that share a Message-ID are entered under it, and are found together.
The index is derived from the logs: it can be deleted at any time, and is built again.  The rows of
a run that is missing are scanned, and are entered anew with the next extension.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.clock import BEGINNING
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.site_lock import site_lock
from tapestry.core.files.sorted_hashes import (
    Hashes,
    SortedHashes,
    hash_texts,
)
from tapestry.core.schema import INDEXED, INDEXED_BY_AUDIENCE
from tapestry.identity.content import message_id_of
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import read_parquet
from tapestry.tables.keys.runs import Runs, end_of
from tapestry.tables.rows import bounded

log = logging.getLogger(__name__)

TAIL_FILES = 16
TAIL_ROWS = 50_000
"""Files, or rows, newer than the index from which on it is extended."""

Places = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
"""A row for each row of a table: its bounded instants, ``ts`` first."""

BY_AUDIENCE = "@audience"
"""After the name of a column: the index of its values with the audiences of their rows."""

_CHUNK = 1_000_000


def indexed_places(
    root: Path, table: str, column: str, values: Sequence[str]
) -> tuple[Places, int]:
    """Return the places of the rows that may have one of the values, and the newest indexed.

    The places are in the order of ``ts``.  Rows newer than the second result are not indexed.
    """
    wanted = np.unique(hash_texts(map(message_id_of, values)))
    found = index_runs(root, table, column).read(lambda run: run.find(wanted))
    per_run, newest = found or ([], BEGINNING)
    places = np.concatenate([np.empty((0, len(bounded(table))), dtype=np.int64), *per_run])
    return places[np.argsort(places[:, 0], kind="stable")], newest


def latest_places(
    root: Path, table: str, column: str, keys: Sequence[tuple[str, str]], before: Places
) -> Places:
    """Return of each audience and value the latest place that is before these instants, if any.

    ``before`` has a row for each of the keys.  A place may be that of a row with another key.
    """
    wanted = hash_texts(audience_key(audience, message_id_of(value)) for audience, value in keys)
    runs = index_runs(root, table, f"{column}{BY_AUDIENCE}")
    found = runs.read(lambda run: run.entries(wanted))
    per_run = found[0] if found else []
    numbers = np.concatenate([np.empty(0, dtype=np.int64), *(run[0] for run in per_run)])
    places = np.concatenate([before[:0], *(run[1] for run in per_run)])
    early = (places < before[numbers]).all(axis=1)
    order = np.lexsort((*places[early].T[::-1], numbers[early]))
    numbers, places = numbers[early][order], places[early][order]
    is_last = np.append(numbers[1:] != numbers[:-1], np.ones(min(1, len(numbers)), dtype=bool))
    latest: Places = places[is_last]
    return latest


def newest_indexed(root: Path, table: str, column: str) -> int:
    """Return the newest ``ts`` that an index covers, BEGINNING if there is none."""
    return end_of(index_runs(root, table, column).listed())


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


def index_runs(root: Path, table: str, column: str) -> Runs:
    """Return the runs of the index of a column."""
    return Runs(root / "index" / f"{table}.{column}", len(bounded(table)))


def extend_index(tables: Tables, table: str) -> bool:
    """Extend the index of a table to its newest row; False if another process is extending it."""
    with site_lock(tables.root / "index.lock") as acquired:
        if acquired:
            data_files = tables.data_files(table)
            for column in index_names(table):
                _extend(tables.root, table, column, data_files)
        return acquired


def extend_index_if_behind(tables: Tables, table: str) -> None:
    """Extend the index of a table if too many rows are newer to scan them at each lookup."""
    indexed = min(newest_indexed(tables.root, table, name) for name in index_names(table))
    tail = [data_file.rows for data_file in tables.data_files(table).after(indexed)]
    if len(tail) < TAIL_FILES and sum(tail) < TAIL_ROWS:
        return
    try:
        extend_index(tables, table)
    except (DamagedFileError, OSError) as error:
        # Rows are found without it, and the append is committed.
        log.warning("The index of %s is not extended: %s", table, error)


def _extend(root: Path, table: str, column: str, data_files: DataFiles) -> None:
    index = index_runs(root, table, column)
    index.directory.mkdir(parents=True, exist_ok=True)
    runs = index.listed()
    low = end_of(runs)
    for chunk, high in _chunks(data_files.after(low)):
        columns = [entries_of(data_file.path, table, column) for data_file in chunk]
        keys, places = (np.concatenate(arrays) for arrays in zip(*columns, strict=True))
        new = (places[:, 0] > low) & (places[:, 0] <= high)
        try:
            index.add(runs, high, SortedHashes.sort(keys[new], places[new]))
        except DamagedFileError:
            return  # the next extension begins where the chain ends without it
        low = high
    index.keep(runs)


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
    rows = with_elements(rows.filter(rows[name].is_valid()), name)
    places = np.column_stack([rows[instant].to_numpy() for instant in instants])
    keys = list(map(message_id_of, rows[name].to_pylist()))
    if name != column:
        keys = list(map(audience_key, rows["audience"].to_pylist(), keys))
    return hash_texts(keys), places


def with_elements(rows: pa.Table, name: str) -> pa.Table:
    """Return rows, those with a set in a column once for each element, which is then in its place.

    >>> rows = pa.table({"ts": [1, 2], "references": [["a", "b"], []]})
    >>> with_elements(rows, "references").to_pydict()
    {'ts': [1, 1], 'references': ['a', 'b']}
    """
    column = rows[name].combine_chunks()
    if not pa.types.is_list(column.type):
        return rows
    repeated = rows.take(pc.list_parent_indices(column))
    place = repeated.schema.get_field_index(name)
    return repeated.set_column(place, name, pc.list_flatten(column))


def text_array(values: Iterable[str]) -> pa.Array:
    """Return texts as an Arrow array, sorted and distinct.

    >>> text_array(["b", "a", "b"]).to_pylist()
    ['a', 'b']
    """
    return pa.array(sorted(set(values)), type=pa.string())
