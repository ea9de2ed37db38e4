"""Rows written by one prepared statement, without an object of the model for each.

The statement is generated from the fields of the model; its values are in the database's types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from django.db import connections, router
from django.db.models import Field, JSONField, Model
from sqlglot import exp

Values = Sequence[Any]

DIALECTS = {"sqlite": "sqlite", "postgresql": "postgres"}
"""Of SQL, by Django's names of the databases."""

MARK = exp.Var(this="%s")
"""The place of a value, as Django writes it for every database."""


def insert_rows(model: type[Model], names: Sequence[str], rows: Iterable[Values]) -> None:
    """Insert rows with values for the fields named; the other fields have their defaults."""
    connection = connections[router.db_for_write(model)]
    given = _fields(model, names)
    others = [f for f in model._meta.concrete_fields if f not in given and not f.primary_key]
    defaults = tuple(f.get_db_prep_save(f.get_default(), connection) for f in others)
    columns = [_identifier(field) for field in (*given, *others)]
    values = exp.values([tuple(MARK for _ in columns)])
    target = exp.Schema(this=_table(model), expressions=columns)
    statement = exp.Insert(this=target, expression=values)
    with connection.cursor() as cursor:
        cursor.executemany(
            statement.sql(DIALECTS[connection.vendor]),
            list(_prepared(given, rows, connection, defaults)),
        )


def update_rows(model: type[Model], names: Sequence[str], rows: Iterable[Values]) -> None:
    """Set the fields named; the last value of each row is the primary key.

    Rows that are gone stay gone.
    """
    connection = connections[router.db_for_write(model)]
    given = _fields(model, names)
    changes = [exp.EQ(this=_identifier(field), expression=MARK) for field in given]
    same_key = exp.EQ(this=_identifier(model._meta.pk), expression=MARK)
    statement = exp.Update(this=_table(model), expressions=changes, where=exp.Where(this=same_key))
    with connection.cursor() as cursor:
        cursor.executemany(
            statement.sql(DIALECTS[connection.vendor]),
            list(_prepared(given, rows, connection)),
        )


def _table(model: type[Model]) -> exp.Table:
    return exp.Table(this=exp.to_identifier(model._meta.db_table, quoted=True))


def _identifier(field: Any) -> exp.Column:
    return exp.column(str(field.column), quoted=True)


def _fields(model: type[Model], names: Sequence[str]) -> list[Field[Any, Any]]:
    by_name = {field.name: field for field in model._meta.concrete_fields}
    return [by_name[name] for name in names]


def _prepared(
    fields: Sequence[Field[Any, Any]], rows: Iterable[Values], connection: Any, more: Values = ()
) -> Iterator[Values]:
    """Yield the rows, and more in each, with JSON as the database has it.

    Numbers and texts are the same there.
    """
    prepare: list[tuple[int, Callable[[Any], Any]]] = [
        (place, _remembering(field, connection))
        for place, field in enumerate(fields)
        if isinstance(field, JSONField)
    ]
    for row in rows:
        values = [*row, *more]
        for place, prepared in prepare:
            values[place] = prepared(values[place])
        yield values


def _remembering(field: Field[Any, Any], connection: Any) -> Callable[[Any], Any]:
    """Return what prepares values, an object once: many rows share one."""
    known: dict[int, tuple[Any, Any]] = {}  # with the object, so that no other gets its number

    def prepared(value: Any) -> Any:
        found = known.get(id(value))
        if found is None:
            found = known[id(value)] = (value, field.get_db_prep_save(value, connection))
        return found[1]

    return prepared
