"""Batches: lists of a bounded length, for SQL statements that name their values one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

BATCH_SIZE = 500
"""Values in one statement: SQLite takes at most 999 in its oldest builds."""

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
    for batch in batched(sorted(set(keys))):
        yield rows.filter(pk__in=batch)


def by_key(rows: QuerySet[Row], keys: Iterable[int], field: str) -> dict[int, Any]:
    """Return a field of those of the rows that have these primary keys, by primary key."""
    return dict(row for batch in in_batches(rows, keys) for row in batch.values_list("pk", field))
