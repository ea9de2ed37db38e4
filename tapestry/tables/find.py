"""Find rows: by key through the index, by a slice of time; without scanning the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tapestry.core.clock import BEGINNING
from tapestry.tables.hash_runs import INDEXED, instants_of, runs, strings
from tapestry.tables.log import Part
from tapestry.tables.rows import arrow_schema

Slice = tuple[int, int]
"""Instants after the first and up to the second."""

_Chosen = Sequence[np.ndarray[Any, Any]]
"""Which row groups of a file are chosen: in one of some ways."""


@dataclass(frozen=True, slots=True)
class Most:
    """How much may be read: rows, and bytes of the columns asked for, once unpacked."""

    rows: int
    bytes: int


def by_key(
    parts: Iterable[Part],
    root: Path | None,
    table: str,
    column: str,
    values: Collection[str],
    columns: Sequence[str],
) -> pa.Table:
    """Return the rows of some files whose ``column`` is among the values.

    ``root`` is where the tables lie: a column that is indexed there is not scanned.
    """
    schema = arrow_schema(table)
    names = list(dict.fromkeys([*columns, column, "ts"]))
    found = [schema.empty_table().select(names)]
    if not values:
        return found[0].select(list(columns))
    wanted = strings(values)
    instants, indexed = np.empty(0, dtype=np.int64), BEGINNING
    if root is not None and column in INDEXED[table]:
        instants, indexed = instants_of(root, table, column, wanted.to_pylist())
    for part in parts:
        if part.max_ts > indexed:
            newer = _read(part, [_after(part, indexed)], names, schema)
            found.append(newer.filter(pc.greater(newer["ts"], indexed)))
        among = _among(instants, part.min_ts, part.max_ts)
        if len(among):
            older = _read(part, [_holding(part, among)], names, schema)
            # Instants are compared faster than texts, and drop nearly all rows.
            found.append(older.filter(pa.array(np.isin(older["ts"].to_numpy(), among))))
    rows = pa.concat_tables(found)
    return rows.filter(pc.is_in(rows[column], wanted)).select(list(columns))


def unindexed(parts: Iterable[Part], root: Path | None, table: str, column: str) -> int:
    """Return how many rows a lookup by a column has to look through."""
    indexed = BEGINNING
    if root is not None and column in INDEXED[table]:
        chain = runs(root, table, column)
        indexed = chain[-1].high if chain else BEGINNING
    return sum(part.rows for part in parts if part.max_ts > indexed)


def by_time(
    parts: Iterable[Part],
    table: str,
    slices: Sequence[Slice],
    columns: Sequence[str],
    most: Most | None = None,
) -> pa.Table | None:
    """Return the rows of some files whose ``ts`` lies in one of the slices.

    None if they stand in row groups of more than ``most``.
    """
    schema = arrow_schema(table)
    names = list(dict.fromkeys([*columns, "ts"]))
    found = [schema.empty_table().select(names)]
    places = [
        (part, [_overlapping(part, one) for one in slices])
        for part in parts
        if any(low < part.max_ts and part.min_ts <= high for low, high in slices)
    ]
    if most is not None and not _fits(most, places, names):
        return None
    found += [_read(part, chosen, names, schema) for part, chosen in places]
    return within(pa.concat_tables(found), slices).select(list(columns))


def within(rows: pa.Table, slices: Sequence[Slice]) -> pa.Table:
    """Return those rows whose ``ts`` lies in one of the slices."""
    ts = rows["ts"].to_numpy()
    chosen = np.zeros(len(ts), dtype=bool)
    for low, high in slices:
        chosen |= (ts > low) & (ts <= high)
    return rows.filter(pa.array(chosen))


@lru_cache(maxsize=512)
def _footer(path: str) -> tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return a file's metadata, and the least and the greatest ``ts`` of each row group."""
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
    place = next(n for n in range(metadata.num_columns) if metadata.schema.column(n).path == "ts")
    bounds = [
        metadata.row_group(n).column(place).statistics for n in range(metadata.num_row_groups)
    ]
    low = [BEGINNING if one is None or not one.has_min_max else one.min for one in bounds]
    high = [-BEGINNING if one is None or not one.has_min_max else one.max for one in bounds]
    return metadata, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)


def _among(instants: np.ndarray[Any, Any], low: int, high: int) -> np.ndarray[Any, Any]:
    begin, end = np.searchsorted(instants, low, "left"), np.searchsorted(instants, high, "right")
    return instants[begin:end]


def _after(part: Part, instant: int) -> np.ndarray[Any, Any]:
    """Return which row groups hold rows newer than an instant."""
    return _footer(part.path)[2] > instant


def _overlapping(part: Part, one: Slice) -> np.ndarray[Any, Any]:
    """Return which row groups may hold rows of a slice."""
    _, low, high = _footer(part.path)
    return (high > one[0]) & (low <= one[1])


def _holding(part: Part, instants: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return which row groups may hold rows of the instants."""
    _, low, high = _footer(part.path)
    begin = np.searchsorted(instants, low, "left")
    return np.asarray(begin < np.searchsorted(instants, high, "right"))


def _fits(most: Most, places: Sequence[tuple[Part, _Chosen]], names: Sequence[str]) -> bool:
    """Tell whether the row groups that are chosen have at most so many rows and bytes."""
    rows = size = 0
    for part, chosen in places:
        metadata = _footer(part.path)[0]
        for number in np.flatnonzero(np.logical_or.reduce(chosen)):
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


def _read(
    part: Part,
    chosen: _Chosen,
    names: list[str],
    schema: pa.Schema,
) -> pa.Table:
    """Return the row groups of a file that are chosen in one of the choices."""
    numbers = [int(number) for number in np.flatnonzero(np.logical_or.reduce(chosen))]
    with pq.ParquetFile(
        part.path, metadata=_footer(part.path)[0], memory_map=True, pre_buffer=False
    ) as file:
        rows = file.read_row_groups(numbers, columns=names)
    return rows.select(names).cast(pa.schema([schema.field(name) for name in names]))
