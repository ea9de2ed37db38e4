"""A register in memory, and rows from dicts: joint runs without a JVM."""

from dataclasses import fields, replace

import pyarrow as pa
import pyarrow.parquet as pq

from tapestry.core.schema import COLUMNS, Type
from tapestry.predicate_index.groups import Class, Holder, seen
from tapestry.predicate_index.store import Entry
from tapestry.tables.rows import arrow_schema


class MemoryDirectory:
    """What the directories of ``tapestry.run`` answer, by loops."""

    def __init__(self):
        self.entries = []
        self.texts = {}

    @classmethod
    def of(cls, register):
        """Return one that holds what stands in a register's files."""
        made = cls()
        rows = [row for path in register.files() for row in pq.read_table(path).to_pylist()]
        names = [each.name for each in fields(Entry)]
        entries = [Entry(**{name: row[name] for name in names}) for row in rows]
        entries = [replace(one, audiences=tuple(one.audiences.split("\n"))) for one in entries]
        made.add(entries, register.examples())
        return made

    def add(self, entries, examples):
        self.entries += entries
        self.texts = examples | self.texts

    def probes(self):
        found = {}
        for one in self.entries:
            found.setdefault(one.probe, set()).add(one.offset)
        return found

    def examples(self):
        return self.texts

    def classes(self, keys, present):
        asked = {(key.extractor, key.offset, key.token) for key in keys}
        woken = [e for e in self.entries if (e.probe, e.offset, e.token) in asked]
        return sorted({_class(one, present) for one in woken})

    def holders(self, some, present):
        found = [Holder(e.fid, e.revision, e.disjunct, _class(e, present)) for e in self.entries]
        return [one for one in found if one.of in some]


def _class(entry, present):
    return Class(entry.signature, entry.constants, seen(entry.audiences, present))


class DictRows:
    """Rows given as dicts, by table."""

    def __init__(self, data):
        self.data = data

    def between(self, table, ranges, columns):
        within = [
            row for row in self.data[table] if any(low < row["ts"] <= high for low, high in ranges)
        ]
        return _arrow(table, within, columns)

    def having(self, table, column, values, columns):
        return _arrow(table, [r for r in self.data[table] if r.get(column) in values], columns)


def _arrow(table, rows, columns):
    kinds = COLUMNS[table]
    schema = arrow_schema(table)
    return pa.table(
        [
            pa.array(
                [list(r.get(c) or ()) if kinds[c] is Type.SET else r.get(c) for r in rows],
                schema.field(c).type,
            )
            for c in columns
        ],
        names=list(columns),
    )
