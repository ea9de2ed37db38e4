"""Probe the predicate index: the keys that the new rows of a window have.

    new rows, and those that became ``offset`` old ─ key extractors ─> tokens ─> predicate keys

This is the content-based matching of publish/subscribe systems.  Each row is read and its tokens
extracted once, for all filters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import ANNOTATIONS, RETRACTED
from tapestry.plan.group import merge
from tapestry.plan.key_extractor import KeyExtractor
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.plan.relation import Range
from tapestry.plan.text_predicates import extract_tokens
from tapestry.tables.delta.data_files import DataFiles
from tapestry.tables.delta.log import Snapshot
from tapestry.tables.read.find import ReadLimit, by_key, by_time, within
from tapestry.tables.read.retractions import retracted_between

AT_ONCE = ReadLimit(rows=200_000, bytes=512 * 1024 * 1024)
"""Rows, and bytes of their columns, up to which they are read together; an import has more."""


@dataclass(frozen=True, slots=True)
class SnapshotRows:
    """Reads rows of one snapshot, by the hash runs and the bounds of row groups."""

    snapshot: Snapshot

    def between(
        self,
        table: str,
        ranges: Sequence[Range],
        columns: Sequence[str],
        by: str = "ts",
    ) -> pa.Table | None:
        """Return the rows whose ``by`` lies in one of the ranges; None if they are too many.

        Annotations may be read by when they were retracted.
        """
        if by == RETRACTED:
            files, root = self.snapshot.data_files(table), self.snapshot.root
            return retracted_between(files, root, ranges, columns)
        return by_time(self.snapshot.data_files(table), table, ranges, columns, AT_ONCE, by)

    def parts_between(
        self, table: str, ranges: Sequence[Range], columns: Sequence[str], by: str = "ts"
    ) -> Iterator[pa.Table]:
        """Yield the rows whose ``by`` lies in one of the ranges, file by file if they are many."""
        rows = self.between(table, ranges, columns, by)
        if rows is not None:
            yield rows
            return
        for data_file in DataFiles.of(self.snapshot.data_files(table)).overlapping(ranges, by):
            yield by_time([data_file], table, ranges, columns, by=by)

    def having(
        self, table: str, column: str, values: Collection[str], columns: Sequence[str]
    ) -> pa.Table:
        """Return the rows whose column is one of the values."""
        files, root = self.snapshot.data_files(table), self.snapshot.root
        return by_key(files, root, table, column, values, columns)


def candidate_keys(
    rows: SnapshotRows, extractors: Mapping[str, Collection[int]], since: int, until: int
) -> set[PredicateKey]:
    """Return the keys that rows of the window have, of the extractors and offsets given."""
    keys: set[PredicateKey] = set()
    by_slice: dict[tuple[str, str], dict[str, KeyExtractor]] = defaultdict(dict)
    for name, offsets in extractors.items():
        extractor = KeyExtractor.parse(name)
        if extractor.kind == "always":
            keys.update(PredicateKey(name, offset, "") for offset in offsets)
        else:
            by_slice[extractor.table, extractor.by][name] = extractor
    window = (since, until)
    for (table, by), reading in sorted(by_slice.items()):
        columns = {e.hop[0] if e.hop else e.column for e in reading.values()} - {"", by}
        every_offset = {offset for name in reading for offset in extractors[name]}
        slices = merge((max(since - o, BEGINNING), until - o) for o in every_offset)
        read = [by, *sorted(columns)]
        parts = ((part, by, since) for part in rows.parts_between(table, slices, read, by))
        more = _more(rows, table, by, columns, window)
        for part, instant, after in chain(parts, more):
            for offset in sorted(every_offset):
                # What came in the window may have been of that age on arrival.
                low = BEGINNING if after is None else after - offset
                new = within(part, [(low, until - offset)], instant)
                keys |= {
                    PredicateKey(name, offset, token)
                    for name, extractor in reading.items()
                    if new.num_rows and offset in extractors[name]
                    for token in _tokens(rows, extractor, new)
                }
    return keys


def _more(
    rows: SnapshotRows, table: str, by: str, columns: Collection[str], window: Range
) -> Iterator[tuple[pa.Table, str, int | None]]:
    """Yield the rows that have keys of a window by another instant than that of its slices.

    Messages that arrived in it may have been ``received`` at any time before.  Annotations that
    were retracted in it have the keys that they had on arrival.  Keys of a retraction are of
    nothing else: an annotation that arrives after it was retracted never stands.
    """
    if by == "received":
        for part in rows.parts_between(table, [window], [by, *sorted(columns)]):
            yield part, by, None
    elif (table, by) == (ANNOTATIONS, "ts"):
        read = [RETRACTED, *sorted(columns)]
        for part in rows.parts_between(table, [window], read, RETRACTED):
            yield part, RETRACTED, window[0]


def _tokens(rows: SnapshotRows, extractor: KeyExtractor, new: pa.Table) -> set[str]:
    if extractor.hop is not None:
        column, table, key = extractor.hop
        values = _values(new, column)
        if not values:
            return set()
        new = rows.having(table, key, values, [extractor.column or key])
    if extractor.kind == "any":
        return {""} if new.num_rows else set()
    values = _values(new, extractor.column)
    return {token for value in values for token in extract_tokens(extractor.kind, value)}


def _values(rows: pa.Table, column: str) -> set[str]:
    values = rows[column]
    if pa.types.is_list(values.type):
        values = pc.list_flatten(values)
    return {value for value in pc.unique(values).to_pylist() if value is not None}
