"""Find rows without scanning the table: by key through the index, or by a slice of time.

Data skipping: files are pruned by the bounds of ``ts`` in the log, row groups by those in the
files' footers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import INDEXED, INDEXED_BY_AUDIENCE
from tapestry.identity.content import COPY_PATTERN
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.delta.parquet_file import open_parquet, parquet_footer
from tapestry.tables.keys.hash_runs import (
    BY_AUDIENCE,
    Places,
    audience_key,
    indexed_places,
    newest_indexed,
    text_array,
)
from tapestry.tables.read.file_facts import facts_of
from tapestry.tables.rows import arrow_schema, bounded

Slice = tuple[int, int]
"""Instants after the first and up to the second."""

SMALL = 256 * 1024
"""Bytes of a file up to which what was read of it is kept: the newest files are read often."""

MOST_KEPT = 512
"""Readings of small files that are kept, without bodies."""

_Masks = Sequence[np.ndarray[Any, Any]]
"""Masks over the row groups of a file: a row group is read if one of them holds."""


@dataclass(frozen=True, slots=True)
class ReadLimit:
    """The most that may be read: rows, and uncompressed bytes of the columns."""

    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of a bounded column, sorted and apart, from each of ``first`` to that of ``last``."""

    by: str
    first: np.ndarray[Any, Any]
    last: np.ndarray[Any, Any]

    @classmethod
    def around(cls, by: str, instants: np.ndarray[Any, Any], low: int, high: int) -> Spans:
        """Return the spans from ``low`` to ``high`` microseconds after each of some instants.

        >>> spans = Spans.around("ts", np.array([20, 5, 7]), -3, 1)
        >>> spans.first.tolist(), spans.last.tolist()
        ([2, 17], [8, 21])
        """
        first, last = np.unique(instants) + low, np.unique(instants) + high
        apart = first[1:] > last[:-1]
        ends = np.ones(min(1, len(first)), dtype=bool)
        return cls(by, first[np.append(ends, apart)], last[np.append(apart, ends)])

    def hold(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return a mask of the values that lie in one of the spans."""
        number = np.searchsorted(self.first, values, "right") - 1
        return (number >= 0) & (values <= np.append(self.last, 0)[number])


def by_key(
    data_files: Iterable[DataFile],
    root: Path | None,
    table: str,
    column: str,
    values: Collection[str],
    columns: Sequence[str],
    audiences: Collection[str] | None = None,
    *,
    with_copies: bool = False,
    spans: Spans | None = None,
) -> pa.Table:
    """Return the rows whose ``column`` is among the values, by the index at ``root`` if any.

    With ``audiences`` only rows of these: those of others are not read where the index by audience
    has them, so that they take no time.  ``with_copies``: the values are Message-IDs; all messages
    that have one of them are returned.  ``spans``: older rows outside them are not read.
    """
    schema = arrow_schema(table)
    seen = [] if audiences is None else ["audience"]
    names = list(dict.fromkeys([*columns, column, *bounded(table), *seen]))
    tables = [schema.empty_table().select(names)]
    if not values:
        return tables[0].select(list(columns))
    wanted = text_array(values)
    instants = bounded(table)
    places, indexed = np.empty((0, len(instants)), dtype=np.int64), BEGINNING
    if root is not None and column in INDEXED[table]:
        places, indexed = _places(root, table, column, wanted.to_pylist(), audiences)
    if spans is not None:
        places = places[spans.hold(places[:, instants.index(spans.by)])]
    unindexed_slice = (indexed, -BEGINNING)
    files = DataFiles.of(data_files)
    for data_file in files.after(indexed):
        newer = _read(data_file, [_overlapping(data_file, unindexed_slice)], names, schema)
        tables.append(within(newer, [unindexed_slice]))
    first = np.searchsorted(places[:, 0], files.low)
    last = np.searchsorted(places[:, 0], files.high, "right")
    for number in np.flatnonzero(first < last):
        data_file, held = files[int(number)], places[first[number] : last[number]]
        mask = _holding(data_file, held, instants)
        if not mask.any():
            continue
        older = _read(data_file, [mask], names, schema)
        # Instants are compared faster than texts, and drop nearly all rows.
        for position, name in enumerate(instants):
            is_among = np.isin(older[name].to_numpy(), held[:, position])
            older = older.filter(pa.array(is_among))
        tables.append(older)
    rows = among(pa.concat_tables(tables), column, wanted, with_copies=with_copies)
    if audiences is not None:
        rows = rows.filter(pc.is_in(rows["audience"], text_array(audiences)))
    return rows.select(list(columns))


def among(rows: pa.Table, column: str, wanted: pa.Array, *, with_copies: bool = False) -> pa.Table:
    """Return the rows whose ``column``, or some element of it where it is a set, is wanted."""
    keys = rows[column].combine_chunks()
    if pa.types.is_list(keys.type):
        found = pc.is_in(pc.list_flatten(keys), wanted)
        return rows.take(pc.unique(pc.list_parent_indices(keys).filter(found)))
    return rows.filter(pc.is_in(message_ids_of(keys) if with_copies else keys, wanted))


def message_ids_of(keys: pa.Array) -> pa.Array:
    """Return the Message-IDs of messages by their keys, as ``tapestry.identity.content`` does."""
    return pc.replace_substring_regex(keys, f"{COPY_PATTERN}$", "")


def _places(
    root: Path, table: str, column: str, values: Sequence[str], audiences: Collection[str] | None
) -> tuple[Places, int]:
    """Return the places of rows by the index of a column, by audience where that is as new."""
    if audiences is not None and column in INDEXED_BY_AUDIENCE[table]:
        keys = [audience_key(audience, value) for audience in audiences for value in values]
        places, indexed = indexed_places(root, table, f"{column}{BY_AUDIENCE}", keys)
        if indexed >= newest_indexed(root, table, column):
            return places, indexed
    return indexed_places(root, table, column, values)


def unindexed(data_files: Iterable[DataFile], root: Path | None, table: str, column: str) -> int:
    """Return how many rows a lookup by a column has to scan: those newer than the index."""
    indexed = BEGINNING
    if root is not None and column in INDEXED[table]:
        indexed = newest_indexed(root, table, column)
    return sum(data_file.rows for data_file in DataFiles.of(data_files).after(indexed))


def by_time(
    data_files: Iterable[DataFile],
    table: str,
    slices: Sequence[Slice],
    columns: Sequence[str],
    most: ReadLimit | None = None,
    by: str = "ts",
) -> pa.Table | None:
    """Return the rows whose ``by`` lies in one of the slices; None if it is too much to read."""
    schema = arrow_schema(table)
    names = list(dict.fromkeys([*columns, by]))
    chosen = [
        (data_file, [_overlapping(data_file, slice_, by) for slice_ in slices])
        for data_file in DataFiles.of(data_files).overlapping(slices, by)
    ]
    if most is not None and not _fits(most, chosen, names):
        return None
    tables = [_read(data_file, masks, names, schema) for data_file, masks in chosen]
    rows = pa.concat_tables([schema.empty_table().select(names), *tables])
    return within(rows, slices, by).select(list(columns))


def newest_after(data_files: Iterable[DataFile], by: str, most: int) -> int | None:
    """Return the least instant known after which are at most so many rows; None if in all.

    It is told by the bounds of files and row groups, which are not read.
    """
    newest_first = sorted(data_files, key=lambda data_file: data_file.bounds(by)[1], reverse=True)
    groups: list[tuple[int, int]] = []
    rows = 0
    for data_file in newest_first:
        if rows > most:
            groups.append((data_file.bounds(by)[1], most + 1))  # of which no group is known
            break
        rows += data_file.rows
        metadata = parquet_footer(data_file.path)
        sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
        groups += zip(facts_of(data_file.path).bounds(by)[1].tolist(), sizes, strict=True)
    for high, size in sorted(groups, reverse=True):
        most -= size
        if most < 0:
            return high
    return None


def equal(
    data_files: Iterable[DataFile], table: str, values: Mapping[str, Any], columns: Sequence[str]
) -> pa.Table:
    """Return the rows that have these values, by the statistics of files and row groups.

    One of the values is that of ``ts``; with it, it is read fast by columns that are sorted
    among the rows of one ``ts``: ``received`` of messages, ``msgid`` of originals.
    """
    schema = arrow_schema(table)
    names = list(dict.fromkeys([*columns, *values]))
    tables = [schema.empty_table().select(names)]
    ts = values["ts"]
    for data_file in DataFiles.of(data_files).overlapping([(ts - 1, ts)]):
        mask = _may_equal(data_file, values)
        if mask.any():
            tables.append(_read(data_file, [mask], names, schema))
    rows = pa.concat_tables(tables)
    for name, value in values.items():
        rows = rows.filter(pc.equal(rows[name], value))
    return rows.select(list(columns))


def _may_equal(data_file: DataFile, values: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return a mask of the row groups that may hold a row with these values."""
    metadata = parquet_footer(data_file.path)
    numbers = {metadata.schema.column(n).path: n for n in range(metadata.num_columns)}
    mask = np.ones(metadata.num_row_groups, dtype=bool)
    for name, value in values.items():
        for group in np.flatnonzero(mask):
            statistics = metadata.row_group(int(group)).column(numbers[name]).statistics
            if statistics is not None and statistics.has_min_max:
                mask[group] = statistics.min <= value <= statistics.max
    return mask


def within(rows: pa.Table, slices: Sequence[Slice], by: str = "ts") -> pa.Table:
    """Return those rows whose ``by`` lies in one of the slices.

    >>> within(pa.table({"ts": [1, 2, 3, 4]}), [(1, 2), (3, 9)])["ts"].to_pylist()
    [2, 4]
    """
    instants = rows[by].to_numpy()
    mask = np.zeros(len(instants), dtype=bool)
    for low, high in slices:
        mask |= (instants > low) & (instants <= high)
    return rows.filter(pa.array(mask))


def _overlapping(data_file: DataFile, slice_: Slice, by: str = "ts") -> np.ndarray[Any, Any]:
    """Return a mask of the row groups that may hold rows of a slice."""
    low, high = facts_of(data_file.path).bounds(by)
    return (high > slice_[0]) & (low <= slice_[1])


def _holding(data_file: DataFile, places: Places, instants: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return a mask of the row groups that may hold a row at one of the places, sorted by ts."""
    low, high = facts_of(data_file.path).bounds()
    first = np.searchsorted(places[:, 0], low)
    last = np.searchsorted(places[:, 0], high, "right")
    mask = np.asarray(first < last)
    for position, name in enumerate(instants[1:], start=1):
        low, high = facts_of(data_file.path).bounds(name)
        for number in np.flatnonzero(mask):
            values = places[first[number] : last[number], position]
            mask[number] = ((values >= low[number]) & (values <= high[number])).any()
    return mask


def _fits(most: ReadLimit, chosen: Sequence[tuple[DataFile, _Masks]], names: Sequence[str]) -> bool:
    rows = size = 0
    for data_file, masks in chosen:
        metadata = parquet_footer(data_file.path)
        for number in np.flatnonzero(np.logical_or.reduce(masks)):
            group = metadata.row_group(int(number))
            rows += group.num_rows
            columns = map(group.column, range(group.num_columns))
            size += sum(
                column.total_uncompressed_size
                for column in columns
                if column.path_in_schema.partition(".")[0] in names
            )
            if rows > most.rows or size > most.bytes:
                return False
    return True


def _read(data_file: DataFile, masks: _Masks, names: list[str], schema: pa.Schema) -> pa.Table:
    """Return the row groups of a file for which one of the masks holds."""
    numbers = tuple(np.flatnonzero(np.logical_or.reduce(masks)).tolist())
    fields = pa.schema([schema.field(name) for name in names])
    keep = data_file.bytes <= SMALL and "body" not in names
    return (_kept if keep else _read_row_groups)(data_file.path, numbers, fields)


def _read_row_groups(path: str, numbers: Sequence[int], fields: pa.Schema) -> pa.Table:
    with open_parquet(path, memory_map=True, pre_buffer=False) as file:
        rows = file.read_row_groups(numbers, columns=fields.names)
        return rows.select(fields.names).cast(fields)


@lru_cache(maxsize=MOST_KEPT)
def _kept(path: str, numbers: Sequence[int], fields: pa.Schema) -> pa.Table:
    return _read_row_groups(path, numbers, fields)
