"""A database of SQLite in memory, with the rows that statements read: each view's are put in once.

Sets are JSON arrays, numbers are floats, as Spark has them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.embedded.functions import UnsureError, add_functions
from tapestry.plan import sql
from tapestry.plan.relation import Field, Relation, View

ViewRows = tuple[View, object, pa.Table]
"""A view, a key that is equal for views of the same rows, and the rows."""

KEYS = ("msgid", "inreplyto", "root")
"""Columns by which rows are joined."""

MANY = 200
"""Rows of a view from which on it has indexes of them: else each NOT EXISTS would scan it."""


class Database:
    """The database of one snapshot; raises ``sqlite3.Error`` and UnsureError."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._names: dict[object, str] = {}
        self._numbers = count()
        add_functions(self._db)

    @contextmanager
    def holding(
        self, views: Iterable[ViewRows], relations: Iterable[Relation]
    ) -> Iterator[sqlite3.Connection]:
        """Give the connection, on which views and relations have their names until the end."""
        named: list[tuple[str, str]] = []
        try:
            for view, key, rows in views:
                named.append((view.name, "VIEW"))
                self._db.execute(_create_view(view.name, self._stored(key, rows)))
            for relation in relations:
                named.append((relation.name, "TABLE"))
                names = [field.name for field in relation.fields]
                self._store(relation.name, names, map(_cells(relation.fields), relation.rows))
            yield self._db
        finally:
            for name, kind in named:
                self._db.execute(_drop(kind, name))

    def _stored(self, key: object, rows: pa.Table) -> str:
        """Return the name of the table with a view's rows."""
        if key not in self._names:
            name = f"rows_{next(self._numbers)}"
            columns = (_values(rows[column]) for column in rows.schema.names)
            self._store(name, rows.schema.names, zip(*columns, strict=True))
            for column in KEYS if rows.num_rows >= MANY else ():
                if column in rows.schema.names:
                    self._db.execute(_create_index(name, column))
            self._names[key] = name
        return self._names[key]

    def _store(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        self._db.execute(_create_table(name, *columns))
        self._db.executemany(_insert(name, len(columns)), rows)


@lru_cache(maxsize=4096)
def _create_view(name: str, table: str) -> str:
    select = exp.select("*").from_(table)
    return exp.Create(this=sql.table(name), kind="VIEW", expression=select).sql(dialect="sqlite")


@lru_cache(maxsize=4096)
def _create_table(name: str, *columns: str) -> str:
    named = [exp.to_identifier(column, quoted=True) for column in columns]
    table = exp.Schema(this=sql.table(name), expressions=named)
    return exp.Create(this=table, kind="TABLE").sql(dialect="sqlite")


@lru_cache(maxsize=4096)
def _create_index(table: str, column: str) -> str:
    columns = exp.IndexParameters(columns=[exp.column(column, quoted=True)])
    name = exp.to_identifier(f"{table}_{column}")
    index = exp.Index(this=name, table=sql.table(table), params=columns)
    return exp.Create(this=index, kind="INDEX").sql(dialect="sqlite")


@lru_cache(maxsize=4096)
def _insert(name: str, columns: int) -> str:
    marks = exp.Tuple(expressions=[exp.Placeholder() for _ in range(columns)])
    values = exp.Values(expressions=[marks])
    return exp.Insert(this=sql.table(name), expression=values).sql(dialect="sqlite")


@lru_cache(maxsize=4096)
def _drop(kind: str, name: str) -> str:
    return exp.Drop(tables=[sql.table(name)], kind=kind, exists=True).sql(dialect="sqlite")


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a view's column as SQLite has them; UnsureError if one is no number."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_list(column.type):
        return [None if value is None else json.dumps(value) for value in values]
    if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        raise UnsureError  # SQLite would take it for NULL
    return values


def _cells(fields: Sequence[Field]) -> Any:
    """Return the function from a relation's row to its values as SQLite has them."""

    def cell(field: Field, value: Any) -> Any:
        if field.many:
            return json.dumps(value)
        return float(value) if field.type is Type.NUMBER and value is not None else value

    return lambda row: [cell(field, value) for field, value in zip(fields, row, strict=True)]
