"""Find one of the earlier rows with a key that decides: the latest, seen by whoever asks.

    NOT EXISTS (p: p.sender = m.sender AND p.ts < m.ts)

Of one sender there is ever more mail, and any message before is enough.  So two places a key are
read, those which the index by audience has last before all rows that ask: of their own audience and
of what is public, for whoever sees such a row sees both.  The keys that this leaves undecided are
looked up in full, in the audiences of whoever may ask.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
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
    seen_with: Mapping[str, Collection[str]],
) -> pa.Table:
    """Return rows whose ``column`` is a key of those asking: some that decide it, or else all.

    ``asking`` has a key, an audience and one instant or more in each row.  A row decides a key if
    it is before all that ask for it, in these instants, and seen by whoever sees one of them.
    ``seen_with`` has what else they see, by audience; all, where it has nothing.
    """
    before, instants = asking.column_names[2:], bounded(table)
    bounds: dict[str, list[int]] = {}
    audiences = defaultdict[str, set[str]](set)
    for value, audience, *row in _rows(asking, asking.column_names):
        if value is not None:
            bounds[value] = list(map(min, bounds.get(value, row), row))
            audiences[value].add(audience)
    keys = [(name, value) for value in sorted(bounds) for name in {*audiences[value], PUBLIC}]
    ends = np.full((len(keys), len(instants)), NEVER, dtype=np.int64)
    for position, name in enumerate(before):
        ends[:, instants.index(name)] = [bounds[value][position] for _, value in keys]
    places = latest_places(root, table, column, keys, ends)
    spans = Spans.around(instants[-1], places[:, -1], 0, 0)
    names = list(dict.fromkeys([*columns, column, "audience", *before]))
    look_up = partial(by_key, data_files, root, table, column)
    rows = look_up(bounds, names, {audience for audience, _ in keys}, spans=spans)
    earlier = defaultdict[str, set[str]](set)
    for value, audience, *row in _rows(rows, (column, "audience", *before)):
        if all(map(int.__lt__, row, bounds[value])):
            earlier[value].add(audience)
    decided = {
        value for value in bounds if PUBLIC in earlier[value] or audiences[value] <= earlier[value]
    }
    parts = [among(rows, column, text_array(decided)).select(columns)]
    rest = defaultdict[frozenset[str], set[str]](set)
    for value in bounds.keys() - decided:
        with_these = [seen_with.get(audience, ()) for audience in audiences[value]]
        rest[frozenset().union(*with_these) if all(with_these) else frozenset()].add(value)
    parts += [look_up(values, columns, reach or None) for reach, values in rest.items()]
    return pa.concat_tables(parts)


def _rows(rows: pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in names), strict=True)
