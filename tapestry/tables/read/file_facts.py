"""Facts of data files, known to a process: files never change, so each fact is read once.

path ─ footer, small columns ─> bounds, audiences, retractions ─> what need not be read
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow.compute as pc

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import RETRACTION
from tapestry.tables.delta.data_files import Bounds
from tapestry.tables.delta.parquet_file import open_parquet, parquet_footer, read_parquet

_Instants = np.ndarray[Any, np.dtype[np.int64]]


class FileFacts:
    """Facts of the file at ``path``, each read when it is first asked for."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._bounds: dict[str, tuple[_Instants, _Instants]] = {}

    def bounds(self, column: str = "ts") -> tuple[_Instants, _Instants]:
        """Return the least and the greatest value of a column in each row group."""
        if column not in self._bounds:
            metadata = parquet_footer(self.path)
            names = [metadata.schema.column(n).path for n in range(metadata.num_columns)]
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            ends = [
                (statistics.min, statistics.max)
                if statistics is not None and statistics.has_min_max
                else (BEGINNING, -BEGINNING)
                for statistics in (group.column(names.index(column)).statistics for group in groups)
            ]
            low, high = np.array(ends, dtype=np.int64).reshape(-1, 2).T
            self._bounds[column] = low, high
        return self._bounds[column]

    @cached_property
    def audiences_by_group(self) -> tuple[frozenset[str], ...]:
        """The audiences in each row group."""
        with open_parquet(self.path) as file:
            numbers = range(file.num_row_groups)
            groups = [file.read_row_group(n, columns=["audience"]) for n in numbers]
        return tuple(frozenset(pc.unique(group["audience"]).to_pylist()) for group in groups)

    @cached_property
    def audiences(self) -> frozenset[str]:
        """The audiences of all rows."""
        return frozenset().union(*self.audiences_by_group)

    @cached_property
    def retractions(self) -> Bounds | None:
        """The least and the greatest ``ts`` of the retractions in a file of annotations, if any."""
        kinds = read_parquet(self.path, ["kind", "ts"])
        instants = kinds.filter(pc.equal(kinds["kind"], RETRACTION))["ts"]
        if not len(instants):
            return None
        bounds = pc.min_max(instants).as_py()
        return bounds["min"], bounds["max"]


@lru_cache(maxsize=8192)
def facts_of(path: str) -> FileFacts:
    """Return what is known of a file."""
    return FileFacts(path)
