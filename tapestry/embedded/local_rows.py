"""Read the few rows that a statement needs, to send them along with it: a semi-join by index.

A statement over new rows needs few old ones: a slice of time, and the rows that have a key of
the slice.  Spark would scan files for them; the index and the bounds of row groups give them
in milliseconds, whatever the size of the table.  Where they are many, Spark scans the files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.message import PUBLIC
from tapestry.core.schema import ANNOTATIONS, COLUMNS, INDEXED_BY_AUDIENCE, RETRACTED, Type
from tapestry.plan.relation import KeyLookup, Range, Statement, View
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.delta.log import Snapshot
from tapestry.tables.keys.hash_runs import text_array
from tapestry.tables.read.find import (
    ReadLimit,
    Spans,
    among,
    by_key,
    by_time,
    newest_after,
    unindexed,
    within,
)
from tapestry.tables.read.one_before import one_before
from tapestry.tables.read.retractions import (
    add_retracted,
    has_retractions,
    retracted_between,
    stored_columns,
)
from tapestry.tables.rows import arrow_schema


@dataclass(frozen=True, slots=True)
class Limits:
    """Up to how many rows are sent along; beyond a limit Spark scans the files."""

    sent: int = 5_000
    """Rows of a whole table: for so few, a Spark job costs more than its work."""

    sliced: int = 50_000
    """Rows of a slice of time."""

    read: int = 100_000
    """Rows of the row groups that hold a slice."""

    keys: int = 100_000
    """Keys of one lookup."""

    looked_up: int = 150_000
    """Rows with these keys, and rows newer than the index that a lookup scans."""

    bytes: int = 64 * 1024 * 1024
    """Bytes of the rows of one view, and of the row groups that hold a slice."""


class LocalRows:
    """Reads the rows of views from one snapshot, each view once."""

    def __init__(self, snapshot: Snapshot, limits: Limits | None = None) -> None:
        self.snapshot = snapshot
        self.limits = limits or Limits()
        self._read: dict[object, pa.Table | None] = {}

    def key(self, view: View, statement: Statement, columns: Collection[str]) -> object:
        """Return a key that is equal for views of the same rows and columns."""
        rows = view.table if self.is_small(view.table) else _view_key(view, statement)
        return (tuple(selected_columns(view.table, columns)), rows)

    def is_small(self, table: str) -> bool:
        """Return whether a whole table is sent along: then all its views are the table."""
        data_files = self.snapshot.data_files(table)
        rows = sum(data_file.rows for data_file in data_files)
        size = sum(data_file.bytes for data_file in data_files)
        return rows <= self.limits.sent and size <= self.limits.bytes

    def rows(self, view: View, statement: Statement, columns: Collection[str]) -> pa.Table | None:
        """Return the rows of a view, perhaps with others of its table; None if they are many."""
        key = self.key(view, statement, columns)
        if key not in self._read:
            self._read[key] = self._rows(view, statement, columns)
        return self._read[key]

    def _rows(self, view: View, statement: Statement, columns: Collection[str]) -> pa.Table | None:
        names = selected_columns(view.table, columns)
        if RETRACTED not in names:
            return self._stored_rows(view, names, statement, columns)
        data_files, root = self.snapshot.data_files(view.table), self.snapshot.root
        if view.by == RETRACTED and view.ranges is not None and not self.is_small(view.table):
            most = ReadLimit(self.limits.read, self.limits.bytes)
            return retracted_between(data_files, root, view.ranges, names, most)
        stored = stored_columns(names)
        rows = self._stored_rows(view, stored, statement, columns)
        return None if rows is None else add_retracted(rows, data_files, root, names)

    def _stored_rows(
        self, view: View, names: Sequence[str], statement: Statement, columns: Collection[str]
    ) -> pa.Table | None:
        """Return columns of a view that its table has; None if its rows are many."""
        data_files = self.snapshot.data_files(view.table)
        if self.is_small(view.table):
            always = [(data_file.min_ts - 1, data_file.max_ts) for data_file in data_files]
            return by_time(data_files, view.table, always, names)
        if view.ranges is not None:
            most = ReadLimit(self.limits.read, self.limits.bytes)
            rows = by_time(data_files, view.table, view.ranges, names, most, view.by)
            return None if rows is None or rows.num_rows > self.limits.sliced else rows
        if view.key_lookup is None:
            return None
        keys = self._keys(view.key_lookup, statement, columns)
        if keys is None or len(keys) > self.limits.keys:
            return None
        column, root = view.key_lookup.column, self.snapshot.root
        if unindexed(data_files, root, view.table, column) > self.limits.looked_up:
            return None
        if view.key_lookup.before and root and column in INDEXED_BY_AUDIENCE[view.table]:
            asking = self._all_asking(view.key_lookup, statement, columns)
            seen = _seen_with(statement)
            rows = one_before(data_files, root, view.table, column, asking, names, seen)
        else:
            spans = self._spans(view.key_lookup, statement, columns)
            rows = by_key(data_files, root, view.table, column, keys, names, spans=spans)
        many = rows.num_rows > self.limits.looked_up or rows.nbytes > self.limits.bytes
        return None if many else rows

    def _keys(
        self, lookup: KeyLookup, statement: Statement, columns: Collection[str]
    ) -> set[str] | None:
        """Return the values that a column may have; None if they are too many."""
        found: set[str] = set()
        for source in _sources(lookup, statement):
            keys = self._keys_of(source, lookup, statement, columns)
            if keys is None:
                return None
            found |= keys
        return found

    def _spans(
        self, lookup: KeyLookup, statement: Statement, columns: Collection[str]
    ) -> Spans | None:
        """Return when the rows that a lookup asks for are; None if at any time."""
        if lookup.near is None:
            return None
        other, low, high = lookup.near.other, lookup.near.low, lookup.near.high
        instants = []
        for source in _sources(lookup, statement):
            if not isinstance(source, View):
                return None
            rows = self._asking(source, lookup, statement, columns)
            if rows is None:
                return None
            instants.append(rows[other].to_numpy())
        return Spans.around(lookup.near.by, np.concatenate(instants), low, high)

    def _all_asking(
        self, lookup: KeyLookup, statement: Statement, columns: Collection[str]
    ) -> pa.Table:
        """Return what a lookup of one row before is asked by, of which keys are known."""
        views = [view for view in _sources(lookup, statement) if isinstance(view, View)]
        rows = [self._asking(view, lookup, statement, columns) for view in views]
        names = [lookup.other, "audience", *lookup.before]
        return pa.concat_tables(table.select(names) for table in rows if table is not None)

    def _asking(
        self, source: View, lookup: KeyLookup, statement: Statement, columns: Collection[str]
    ) -> pa.Table | None:
        """Return the rows of a view that ask for those of a lookup; None if they are many."""
        selecting = source.by if source.key_lookup is None else source.key_lookup.column
        compared = {"audience", *lookup.before} if lookup.before else set()
        compared |= {lookup.near.other} if lookup.near else set()
        rows = self.rows(source, statement, {*columns, lookup.other, selecting, *compared})
        if rows is not None and self.is_small(source.table):
            return self._selected(source, rows, statement, columns)
        return rows

    def _keys_of(
        self,
        source: View | tuple[object, ...],
        lookup: KeyLookup,
        statement: Statement,
        columns: Collection[str],
    ) -> set[str] | None:
        """Return the values that one source gives; None if they are too many."""
        if not isinstance(source, View):
            return {value for value in source if isinstance(value, str)}
        rows = self._asking(source, lookup, statement, columns)
        if rows is None:
            return None
        values = rows[lookup.other]
        if COLUMNS[source.table][lookup.other] is Type.SET:
            values = pc.list_flatten(values)
        return set(values.unique().drop_null().to_pylist())

    def _selected(
        self, view: View, rows: pa.Table, statement: Statement, columns: Collection[str]
    ) -> pa.Table:
        """Return those rows of a small table that a view selects."""
        if view.key_lookup is not None:
            keys = self._keys(view.key_lookup, statement, columns)
            column = view.key_lookup.column
            return rows if keys is None else among(rows, column, text_array(keys))
        return rows if view.ranges is None else within(rows, view.ranges, view.by)

    def covers(self, table: str, ranges: tuple[Range, ...], by: str = "ts") -> bool:
        """Tell whether the table can hold rows whose ``by`` lies in one of the ranges."""
        data_files = self.snapshot.data_files(table)
        if by == RETRACTED:
            return has_retractions(data_files, ranges)
        return bool(DataFiles.of(data_files).overlapping(ranges, by))

    def newest_after(self, table: str, by: str, rows: int) -> int | None:
        """Return an instant after which the table has at most so many rows; None if in all."""
        return newest_after(self.snapshot.data_files(table), by, rows)

    def files(self, view: View) -> list[DataFile]:
        """Return the files of the snapshot that can hold rows of a view."""
        data_files = DataFiles.of(self.snapshot.data_files(view.table))
        if view.ranges is None or view.by == RETRACTED:
            return list(data_files)
        return data_files.overlapping(view.ranges, view.by)


def _view_key(view: View, statement: Statement) -> object:
    lookup = view.key_lookup
    if lookup is None:
        return (view.table, view.ranges, view.by)
    sources = tuple(
        _view_key(source, statement) if isinstance(source, View) else source
        for source in _sources(lookup, statement)
    )
    audiences = _audiences(statement) if lookup.before else None
    return (view.table, lookup.column, lookup.other, lookup.near, lookup.before, audiences, sources)


def _sources(lookup: KeyLookup, statement: Statement) -> list[View | tuple[object, ...]]:
    """Return the views that give the keys, and the values of a relation's column."""
    sources: list[View | tuple[object, ...]] = []
    views = {view.name: view for view in statement.views}
    relations = {relation.name: relation for relation in statement.relations}
    for name in lookup.sources:
        if name in views:
            sources.append(views[name])
            continue
        position = [field.name for field in relations[name].fields].index(lookup.other)
        sources.append(tuple(row[position] for row in relations[name].rows))
    return sources


def _audiences(statement: Statement) -> frozenset[tuple[str, ...]]:
    """Return what each owner of filters in a statement sees."""
    found = set[tuple[str, ...]]()
    for relation in statement.relations:
        names = [field.name for field in relation.fields]
        if "audiences" in names:
            rows: Any = relation.rows
            found.update(tuple(row[names.index("audiences")]) for row in rows)
    return frozenset(found)


def _seen_with(statement: Statement) -> dict[str, set[str]]:
    """Return what owners of filters see who see an audience, by private audiences."""
    found = defaultdict[str, set[str]](set)
    for audiences in _audiences(statement):
        for audience in {*audiences} - {PUBLIC}:
            found[audience].update(audiences)
    return found


def selected_columns(table: str, columns: Collection[str]) -> list[str]:
    """Return those columns of a table that are among ``columns``, at least one.

    >>> selected_columns("annotations", {"owner", "annid", "elsewhere"})
    ['annid', 'owner']
    """
    names = [name for name in arrow_schema(table).names if name in columns] or ["ts"]
    derived = [RETRACTED] if table == ANNOTATIONS and RETRACTED in columns else []
    return names + derived
