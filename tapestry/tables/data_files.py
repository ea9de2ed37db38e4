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
from deltalake import DeltaTable

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError

_Integers = np.ndarray[Any, np.dtype[np.int64]]
_in_order = attrgetter("min_ts", "max_ts", "path")


@dataclass(frozen=True, slots=True)
class DataFile:
    """One immutable Parquet file of a version; ``path`` is absolute, ``ts`` in its bounds."""

    path: str
    rows: int
    min_ts: int
    max_ts: int
    bytes: int = 0


class DataFiles(tuple[DataFile, ...]):
    """Data files with their bounds as arrays: thousands of files are pruned at once."""

    @classmethod
    def of(cls, data_files: Iterable[DataFile]) -> DataFiles:
        """Return files in the order given; those of a log have their arrays already."""
        return data_files if isinstance(data_files, cls) else cls(data_files)

    @cached_property
    def low(self) -> _Integers:
        """The least ``ts`` of each file."""
        return np.array([data_file.min_ts for data_file in self], dtype=np.int64)

    @cached_property
    def high(self) -> _Integers:
        """The greatest ``ts`` of each file."""
        return np.array([data_file.max_ts for data_file in self], dtype=np.int64)

    @property
    def newest(self) -> int:
        """The newest ``ts`` of all rows, BEGINNING if there is none."""
        return int(self.high.max(initial=BEGINNING))

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
            appended.__dict__["low"] = np.append(self.low, [f.min_ts for f in new])
            appended.__dict__["high"] = np.append(self.high, [f.max_ts for f in new])
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
    columns = ("path", "num_records", "min.ts", "max.ts", "size_bytes")
    rows = zip(*(actions[name] for name in columns), strict=True)
    return DataFiles(sorted((_data_file(str(root), *row) for row in rows), key=_in_order))


def data_file_of(root: str, add: Mapping[str, Any]) -> DataFile:
    """Return the file that an ``add`` action of a commit names."""
    statistics = json.loads(add.get("stats") or "{}")
    low, high = (statistics.get(name, {}).get("ts") for name in ("minValues", "maxValues"))
    rows = statistics.get("numRecords")
    return _data_file(root, unquote(add["path"]), rows, low, high, add["size"])


def _data_file(
    root: str, path: str, rows: int | None, low: int | None, high: int | None, size: int
) -> DataFile:
    if rows is None or low is None or high is None:
        raise TapestryError(
            f"The log of {root} holds no statistics for {path}.",
            hint="Commit files with their row count and the bounds of ts.",
        )
    return DataFile(f"{root}/{path}", rows, low, high, size)
