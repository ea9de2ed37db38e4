"""A predicate index in memory, and rows from dicts: shared windows without a JVM."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from tapestry.core.schema import ANNOTATIONS, COLUMNS, RETRACTED, Type
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index.groups import EvaluationGroup, Member, visible_audiences
from tapestry.tables.rows import arrow_schema
from tests.support.oracle.standing import retracted
from tests.support.oracle.threads import rows_of
from tests.support.oracle.values import cell


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
        lookup.add([_entry(row) for row in rows], index.representatives())
        return lookup

    def add(self, entries, representatives):
        self.entries += entries
        self.texts = representatives | self.texts

    def extractors(self):
        found = {}
        for _, key in self.entries:
            found.setdefault(key.extractor, set()).add(key.offset)
        return found

    def representatives(self):
        return self.texts

    def candidate_groups(self, keys):
        asked = set(keys)
        return sorted({member.group for member, key in self._visible() if key in asked})

    def groups_with(self, extractors):
        return sorted({member.group for member, key in self._visible() if key[0] in extractors})

    def filters_of(self, groups):
        return {member.filter_id for member in self.members(groups)}

    def members(self, groups):
        return [member for member, _ in self._visible() if member.group in groups]

    def _visible(self):
        """Yield the entries, in whose groups are the audiences that some row has."""
        for member, key in self.entries:
            audiences = visible_audiences(member.group.audiences, self.present)
            yield replace(member, group=replace(member.group, audiences=audiences)), key


def _entry(row):
    group = EvaluationGroup(row["signature"], row["constants"], tuple(row["audiences"].split("\n")))
    member = Member(row["filter_id"], row["revision"], row["disjunct"], group)
    return member, PredicateKey(row["extractor"], row["offset"], row["token"])


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
        return _arrow(
            table, [r for r in rows_of(self.data, table) if r.get(column) in values], columns
        )


def _with_retracted(data, table):
    rows = rows_of(data, table)
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
