"""A predicate index in memory, and rows from dicts: shared windows without a JVM."""

from dataclasses import fields, replace

import pyarrow as pa
import pyarrow.parquet as pq
from support.oracle_values import cell
from support.standing import retracted

from tapestry.core.schema import ANNOTATIONS, COLUMNS, RETRACTED, Type
from tapestry.predicate_index.groups import EvaluationGroup, Member, visible_audiences
from tapestry.predicate_index.store import IndexEntry
from tapestry.tables.rows import arrow_schema


class NaiveLookup:
    """What ``InMemoryLookup`` answers, by loops over the entries."""

    def __init__(self, present=()):
        self.present = present
        self.entries = []
        self.texts = {}

    @classmethod
    def of(cls, index, present=()):
        """Return one with the entries of an index's files."""
        lookup = cls(present)
        rows = [row for path in index.files() for row in pq.read_table(path).to_pylist()]
        names = [field.name for field in fields(IndexEntry)]
        entries = [IndexEntry(**{name: row[name] for name in names}) for row in rows]
        entries = [replace(e, audiences=tuple(e.audiences.split("\n"))) for e in entries]
        lookup.add(entries, index.representatives())
        return lookup

    def add(self, entries, representatives):
        self.entries += entries
        self.texts = representatives | self.texts

    def extractors(self):
        found = {}
        for entry in self.entries:
            found.setdefault(entry.extractor, set()).add(entry.offset)
        return found

    def representatives(self):
        return self.texts

    def candidate_groups(self, keys):
        asked = {(key.extractor, key.offset, key.token) for key in keys}
        candidates = [e for e in self.entries if (e.extractor, e.offset, e.token) in asked]
        return sorted({_group(entry, self.present) for entry in candidates})

    def groups_with(self, extractors):
        return sorted({_group(e, self.present) for e in self.entries if e.extractor in extractors})

    def filters_of(self, groups):
        return {e.filter_id for e in self.entries if _group(e, self.present) in groups}

    def members(self, groups):
        found = [
            Member(e.filter_id, e.revision, e.disjunct, _group(e, self.present))
            for e in self.entries
        ]
        return [member for member in found if member.group in groups]


def _group(entry, present):
    return EvaluationGroup(
        entry.signature, entry.constants, visible_audiences(entry.audiences, present)
    )


class DictRows:
    """Rows given as dicts, by table."""

    def __init__(self, data):
        self.data = data

    def between(self, table, ranges, columns, by="ts"):
        within = [
            row
            for row in _with_retracted(self.data, table)
            if any(low < cell(row, by, Type.INSTANT) <= high for low, high in ranges)
        ]
        return _arrow(table, within, columns)

    def parts_between(self, table, ranges, columns, by="ts"):
        rows = self.between(table, ranges, columns, by)
        yield rows.slice(0, rows.num_rows // 2)
        yield rows.slice(rows.num_rows // 2)

    def having(self, table, column, values, columns):
        return _arrow(table, [r for r in self.data[table] if r.get(column) in values], columns)


def _with_retracted(data, table):
    rows = data[table]
    if table != ANNOTATIONS:
        return rows
    return [row | {RETRACTED: retracted(row, rows)} for row in rows]


def _arrow(table, rows, columns):
    kinds = COLUMNS[table] | {RETRACTED: Type.INSTANT}
    schema = arrow_schema(table).append(pa.field(RETRACTED, pa.int64()))
    return pa.table(
        [
            pa.array(
                [
                    list(r.get(c) or ()) if kinds[c] is Type.SET else cell(r, c, kinds[c])
                    for r in rows
                ],
                schema.field(c).type,
            )
            for c in columns
        ],
        names=list(columns),
    )
