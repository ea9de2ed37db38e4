"""The plans of the product on sqlite: the same statements without a JVM."""

import json
import re
import sqlite3
from contextlib import nullcontext
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

import pyarrow.parquet as pq

from tapestry.core.schema import ANNOTATIONS, COLUMNS, RETRACTED, Type
from tapestry.embedded.dialect import sqlite_sql
from tapestry.plan.relation import Statement
from tests.support.oracle.standing import retracted
from tests.support.oracle.threads import rows_of
from tests.support.oracle.values import cell, without_accents


def matches(value, regex):
    return None if value is None or regex is None else int(bool(re.search(regex, value.lower())))


def words(text):
    text = text if text.isascii() else "".join(map(without_accents, text))
    return ["".join(g) for is_word, g in groupby(text, str.isalnum) if is_word]


def has(value, phrase):
    if value is None or phrase is None:
        return None
    own, wanted = [w.lower() for w in words(value)], [w.lower() for w in words(phrase)]
    text, looked_for = " ".join(["", *own, ""]), " ".join(["", *wanted, ""])
    return int((looked_for.rstrip() if phrase.endswith("*") else looked_for) in text)


# The same sets come again for each row and statement; nobody may change what is returned.
elements_of = lru_cache(maxsize=4096)(json.loads)


def some(test):
    def over(elements, value):
        results = [test(element, value) for element in elements_of(elements)]
        if any(results):
            return 1
        return None if None in results else 0

    return over


def compare(test):
    return lambda a, b: None if a is None or b is None else int(test(a, b))


def among(value, values):
    return None if value is None else int(value in elements_of(values))


FUNCTIONS = {
    "visible": (2, lambda audiences, audience: int(audience in elements_of(audiences))),
    "text_matches": (2, matches),
    "text_has": (2, has),
    "distinct_elements": (1, lambda v: json.dumps(list(dict.fromkeys(json.loads(v or "[]"))))),
    "value_in": (2, among),
    "set_matches": (2, some(matches)),
    "set_has": (2, some(has)),
    "set_in": (2, some(among)),
    "set_eq": (2, some(compare(lambda a, b: a == b))),
    "set_ne": (2, some(compare(lambda a, b: a != b))),
    "set_lt": (2, some(compare(lambda a, b: a < b))),
    "set_le": (2, some(compare(lambda a, b: a <= b))),
    "set_gt": (2, some(compare(lambda a, b: a > b))),
    "set_ge": (2, some(compare(lambda a, b: a >= b))),
    "text_lower": (1, lambda v: None if v is None else v.lower()),
    "text_upper": (1, lambda v: None if v is None else v.upper()),
    "text_length": (1, lambda v: None if v is None else len(v)),
    "text_trim": (1, lambda v: None if v is None else v.strip(" ")),
    "text_substr": (
        -1,
        lambda v, start, size=None: (
            None if v is None else v[start - 1 : None if size is None else start - 1 + size]
        ),
    ),
    "text_coalesce": (-1, lambda *values: next((v for v in values if v is not None), None)),
    "concat_ws": (-1, lambda glue, *values: glue.join(v for v in values if v is not None)),
}


class SqliteEngine:
    """Answers statements over rows given as dicts: ``{"messages": [], "annotations": []}``."""

    def __init__(self, data):
        self.db = sqlite3.connect(":memory:")
        for name, (count, function) in FUNCTIONS.items():
            self.db.create_function(name, count, function, deterministic=True)
        for table, columns in COLUMNS.items():
            names = ", ".join([*(f'"{name}"' for name in columns), RETRACTED])
            self.db.execute(f"CREATE TABLE {table} ({names})")
            stored = list(rows_of(data, table))
            notes = stored if table == ANNOTATIONS else []
            rows = [
                [
                    *(_cell(cell(row, name, kind), kind) for name, kind in columns.items()),
                    retracted(row, notes) if notes else None,
                ]
                for row in stored
            ]
            marks = ", ".join("?" * (len(columns) + 1))
            self.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def limit(self, seconds):
        return nullcontext()

    def covers(self, table, ranges, by="ts"):
        within = " OR ".join(f"({by} > {low} AND {by} <= {high})" for low, high in ranges)
        return bool(
            self.db.execute(f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {within})").fetchone()[0]
        )

    def newest_after(self, table, by, rows):
        few = rows // 1000  # so that the laws would tell where too few are read
        order = f"SELECT {by} FROM {table} ORDER BY {by} DESC LIMIT 1 OFFSET {few}"
        found = self.db.execute(order).fetchone()
        return found and found[0]

    def fetch(self, statement):
        for view in statement.views:
            if view.name != view.table:
                self.db.execute(
                    f"CREATE TEMP VIEW {view.name} AS SELECT * FROM {view.table} "
                    f"WHERE {_limits(view, statement)}"
                )
        for relation in statement.relations:
            names = ", ".join(field.name for field in relation.fields)
            self.db.execute(f"CREATE TEMP TABLE {relation.name} ({names})")
            marks = ", ".join("?" * len(relation.fields))
            self.db.executemany(
                f"INSERT INTO {relation.name} VALUES ({marks})",
                [
                    [
                        json.dumps(v) if f.many else v
                        for f, v in zip(relation.fields, row, strict=True)
                    ]
                    for row in relation.rows
                ],
            )
        try:
            return self.db.execute(_text(statement.select)).fetchall()
        finally:
            for view in statement.views:
                if view.name != view.table:
                    self.db.execute(f"DROP VIEW {view.name}")
            for relation in statement.relations:
                self.db.execute(f"DROP TABLE temp.{relation.name}")


@lru_cache(maxsize=64)
def _text(select):
    """Return the SQL of a statement: to print a select takes longer than to run it."""
    return sqlite_sql(Statement(select))


def _limits(view, statement):
    """What of a table a view holds: no row more than it must, so that the laws would tell."""
    if view.key_lookup is None:
        by = view.by
        return " OR ".join(f"({by} > {low} AND {by} <= {high})" for low, high in view.ranges)
    lookup = view.key_lookup
    tables = {one.name: one.table for one in statement.views}
    is_near = "1"
    if lookup.near:
        by, other = f'{view.table}."{lookup.near.by}"', f'one."{lookup.near.other}"'
        is_near = f"{by} - {other} BETWEEN {lookup.near.low} AND {lookup.near.high}"
    column = f'{view.table}."{lookup.column}"'
    keys = (
        f"(SELECT value FROM json_each({column}))" if _is_set(view.table, lookup.column) else None
    )
    conditions = []
    for source in lookup.sources:
        other, rows = f'one."{lookup.other}"', f"{source} one"
        if _is_set(tables.get(source), lookup.other):
            other, rows = "value", f"{rows}, json_each({other})"
        same = f"{other} IN {keys}" if keys else f"{other} = {column}"
        conditions.append(f"EXISTS (SELECT 1 FROM {rows} WHERE {same} AND {is_near})")
    return " OR ".join(conditions)


def _is_set(table, column):
    return COLUMNS.get(table, {}).get(column) is Type.SET


def _cell(value, kind):
    if kind is Type.SET:
        return json.dumps(list(value or ()))
    return value


def engine_of(kind=SqliteEngine):
    """What opens an engine of a kind over the rows of a snapshot; each file is read once."""

    @cache
    def rows_of(path, _modified):
        return pq.read_table(path).to_pylist()

    def engine_on(snapshot, **_):
        return kind(
            {
                table: [
                    row
                    for file in snapshot.data_files(table)
                    for row in rows_of(file.path, Path(file.path).stat().st_mtime_ns)
                ]
                for table in COLUMNS
            }
        )

    return engine_on
