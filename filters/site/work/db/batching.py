"""Batches: lists of a bounded length, for SQL statements that name their values one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from django.db import connections
from django.db.models import Model, QuerySet
from django.db.models.expressions import RawSQL

BATCH_SIZE = 500
"""Values in one statement: SQLite takes at most 999 in its oldest builds."""

KEYS = 50_000
"""Primary keys in one statement, where they are one parameter."""

_NUMBERS = {
    "postgresql": ("SELECT unnest(%s::bigint[])", "{{{}}}"),
    "sqlite": ("SELECT value FROM json_each(%s)", "[{}]"),
}
"""By database: what makes rows of one parameter, and that parameter, of numbers with commas."""

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)


def batched(items: Iterable[Item], size: int = BATCH_SIZE) -> Iterator[list[Item]]:
    """Yield the items in order, in lists of at most that length.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def in_batches(rows: QuerySet[Row], keys: Iterable[int]) -> Iterator[QuerySet[Row]]:
    """Yield those of the rows that have these primary keys, in order, batch by batch."""
    sql, parameter = _NUMBERS[connections[rows.db].vendor]
    for batch in batched(sorted(set(keys)), KEYS):
        numbers = parameter.format(",".join(map(str, batch)))
        yield rows.filter(pk__in=RawSQL(sql, [numbers]))


def by_key(rows: QuerySet[Row], keys: Iterable[int], field: str) -> dict[int, Any]:
    """Return a field of those of the rows that have these primary keys, by primary key."""
    return dict(row for batch in in_batches(rows, keys) for row in batch.values_list("pk", field))
