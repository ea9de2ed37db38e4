"""The immutable data files of one version of a log, and which of them a slice of time concerns."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.schema import INSTANTS
from tapestry.tables.rows import bounded

_Integers = np.ndarray[Any, np.dtype[np.int64]]
Bounds = tuple[int, int]

UNKNOWN: Bounds = (BEGINNING, -BEGINNING)

_in_order = attrgetter("min_ts", "max_ts", "path")


def _bounds_of(data_files: Iterable[DataFile], column: str) -> _Integers:
    """Return the least values of a column and, in the second row, the greatest."""
    bounds = [data_file.bounds(column) for data_file in data_files]
    return np.array(bounds, dtype=np.int64).reshape(-1, 2).T


@dataclass(frozen=True, slots=True)
class DataFile:
    """One immutable Parquet file of a version; ``path`` is absolute, the bounds are inclusive.

    Those of ``received`` and ``starts`` are unknown where the table has no such column.
    """

    path: str
    rows: int
    min_ts: int
    max_ts: int
    bytes: int = 0
    min_received: int = UNKNOWN[0]
    max_received: int = UNKNOWN[1]
    min_starts: int = UNKNOWN[0]
    max_starts: int = UNKNOWN[1]

    def bounds(self, column: str) -> Bounds:
        """Return the least and the greatest value of a bounded column."""
        return getattr(self, f"min_{column}"), getattr(self, f"max_{column}")


class DataFiles(tuple[DataFile, ...]):
    """Data files with their bounds as arrays: thousands are pruned at once (data skipping)."""

    @classmethod
    def of(cls, data_files: Iterable[DataFile]) -> DataFiles:
        """Return files in the order given; those of a log have their arrays already."""
        return data_files if isinstance(data_files, cls) else cls(data_files)

    @cached_property
    def _bounds(self) -> dict[str, _Integers]:
        return {column: _bounds_of(self, column) for column in INSTANTS}

    @property
    def low(self) -> _Integers:
        """The least ``ts`` of each file."""
        return self._bounds["ts"][0]  # type: ignore[no-any-return]

    @property
    def high(self) -> _Integers:
        """The greatest ``ts`` of each file."""
        return self._bounds["ts"][1]  # type: ignore[no-any-return]

    @property
    def newest(self) -> int:
        """The newest ``ts`` of all rows, BEGINNING if there is none."""
        return int(self.high.max(initial=BEGINNING))

    def overlapping(self, slices: Iterable[Bounds], column: str = "ts") -> list[DataFile]:
        """Return the files that can hold rows of a slice, after its first instant up to its last.

        >>> files = DataFiles([DataFile("a", 1, 1, 3), DataFile("b", 1, 4, 4)])
        >>> [data_file.path for data_file in files.overlapping([(0, 1), (4, 9)])]
        ['a']
        """
        low, high = self._bounds[column]
        mask = np.zeros(len(self), dtype=bool)
        for after, last in slices:
            mask |= (high > after) & (low <= last)
        return self.where(mask)

    def where(self, mask: np.ndarray[Any, Any]) -> list[DataFile]:
        """Return the files for which a mask holds."""
        return [self[int(number)] for number in np.flatnonzero(mask)]

    def after(self, ts: int) -> list[DataFile]:
        """Return the files that hold rows newer than ``ts``.

        >>> files = DataFiles([DataFile("a", 1, 1, 3), DataFile("b", 1, 4, 4)])
        >>> [data_file.path for data_file in files.after(3)], files.newest
        (['b'], 4)
        """
        return self.where(self.high > ts)

    def changed(self, removed: Collection[str], added: Iterable[DataFile]) -> DataFiles:
        """Return the files without those of the removed paths and with those added, in order."""
        new = sorted(added, key=_in_order)
        if not removed and new and (not self or _in_order(self[-1]) <= _in_order(new[0])):
            appended = DataFiles((*self, *new))
            # What almost every commit does costs the same whatever the log holds.
            appended.__dict__["_bounds"] = {
                column: np.append(bounds, _bounds_of(new, column), axis=1)
                for column, bounds in self._bounds.items()
            }
            return appended
        kept = (data_file for data_file in self if data_file.path not in removed)
        return DataFiles(sorted([*kept, *new], key=_in_order))


def root_of(opened: DeltaTable) -> Path:
    """Return the directory of an opened table, in which its files' paths are."""
    return Path(unquote(urlsplit(opened.table_uri).path))


def data_files_of(opened: DeltaTable) -> DataFiles:
    """Return the files of an opened version, oldest rows first, from the log's statistics."""
    root = root_of(opened)
    actions = pa.table(opened.get_add_actions(flatten=True)).to_pydict()
    if not actions["path"]:
        return DataFiles()
    unknown = [None] * len(actions["path"])
    ends = [
        (column, actions.get(f"min.{column}", unknown), actions.get(f"max.{column}", unknown))
        for column in INSTANTS
    ]
    files = zip(actions["path"], actions["num_records"], actions["size_bytes"], strict=True)
    return DataFiles(
        sorted(
            (
                _data_file(
                    f"{root}/{path}",
                    rows,
                    size,
                    {column: (low[n], high[n]) for column, low, high in ends},
                )
                for n, (path, rows, size) in enumerate(files)
            ),
            key=_in_order,
        )
    )


def data_file_of(root: str, add: Mapping[str, Any]) -> DataFile:
    """Return the file that an ``add`` action of a commit names."""
    stored = json.loads(add.get("stats") or "{}")
    low, high = stored.get("minValues", {}), stored.get("maxValues", {})
    bounds = {column: (low.get(column), high.get(column)) for column in INSTANTS}
    path = f"{root}/{unquote(add['path'])}"
    return _data_file(path, stored.get("numRecords"), add["size"], bounds)


def _data_file(
    path: str, rows: int | None, size: int, bounds: Mapping[str, tuple[int | None, int | None]]
) -> DataFile:
    known = {
        column: (low, high)
        for column, (low, high) in bounds.items()
        if low is not None and high is not None
    }
    if rows is None or "ts" not in known:
        raise TapestryError(
            f"The log holds no statistics for {path}.",
            hint="Commit files with their row count and the bounds of ts.",
        )
    return bounded_file(path, rows, size, known)


def bounded_file(path: str, rows: int, size: int, bounds: Mapping[str, Bounds]) -> DataFile:
    """Return a data file, given its bounds by column."""
    received, starts = (bounds.get(name, UNKNOWN) for name in ("received", "starts"))
    return DataFile(path, rows, *bounds["ts"], size, *received, *starts)


def bounds_of(table: str, rows: pa.Table) -> dict[str, Bounds]:
    """Return the least and the greatest value of each bounded column of some rows."""
    found = ((column, pc.min_max(rows[column]).as_py()) for column in bounded(table))
    return {column: (ends["min"], ends["max"]) for column, ends in found}


def statistics(rows: int, bounds: Mapping[str, Bounds]) -> str:
    """Return the statistics of a file as the log stores them (Delta, per-file statistics).

    >>> statistics(2, {"ts": (1, 3)})
    '{"numRecords": 2, "minValues": {"ts": 1}, "maxValues": {"ts": 3}, "nullCount": {"ts": 0}}'
    """
    stored = {
        "numRecords": rows,
        "minValues": {column: low for column, (low, _) in bounds.items()},
        "maxValues": {column: high for column, (_, high) in bounds.items()},
        "nullCount": dict.fromkeys(bounds, 0),
    }
    return json.dumps(stored)
