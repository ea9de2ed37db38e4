"""Find one of the earlier rows with a key that decides: the latest, seen by whoever asks.

    NOT EXISTS (p: p.sender = m.sender AND p.ts < m.ts)

Of one sender there is ever more mail, and any message before is enough.  So one place a key is
read, that which the index has last before all rows that ask.  Whoever sees a row sees its audience,
and what is public.  The keys that this leaves undecided are looked up in full.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tapestry.core.clock import NEVER
from tapestry.core.message import PUBLIC
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.keys.hash_runs import latest_places, text_array
from tapestry.tables.read.find import Spans, among, by_key
from tapestry.tables.rows import bounded


def one_before(
    data_files: Iterable[DataFile],
    root: Path,
    table: str,
    column: str,
    asking: pa.Table,
    columns: Sequence[str],
) -> pa.Table:
    """Return rows whose ``column`` is a key of those asking: one that decides it, or else all.

    ``asking`` has a key, an audience and one instant or more in each row.  A row decides a key if
    it is before all that ask for it, in these instants, and seen by whoever sees one of them.
    """
    before, instants = asking.column_names[2:], bounded(table)
    bounds: dict[str, list[int]] = {}
    audiences = defaultdict[str, set[str]](set)
    for value, audience, *row in _rows(asking, asking.column_names):
        if value is not None:
            bounds[value] = list(map(min, bounds.get(value, row), row))
            audiences[value].add(audience)
    keys = sorted(bounds)
    ends = np.full((len(keys), len(instants)), NEVER, dtype=np.int64)
    for position, name in enumerate(before):
        ends[:, instants.index(name)] = [bounds[value][position] for value in keys]
    places = latest_places(root, table, column, keys, ends)
    spans = Spans.around(instants[-1], places[:, -1], 0, 0)
    names = list(dict.fromkeys([*columns, column, "audience", *before]))
    rows = by_key(data_files, root, table, column, keys, names, spans=spans)
    seen = defaultdict[str, set[str]](set)
    for value, audience, *row in _rows(rows, (column, "audience", *before)):
        if all(map(int.__lt__, row, bounds[value])):
            seen[value].add(audience)
    decided = {value for value in keys if PUBLIC in seen[value] or audiences[value] <= seen[value]}
    rest = by_key(data_files, root, table, column, bounds.keys() - decided, columns)
    deciding = among(rows, column, text_array(decided)).select(rest.column_names)
    return pa.concat_tables([deciding, rest])


def _rows(rows: pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in names), strict=True)
