"""Lists of a bounded length, for statements that name their values one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

CHUNK = 500
"""Values in one statement: SQLite takes at most 999 in its oldest builds."""

Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    """Yield the items in order, in lists of at most that length.

    >>> list(chunks("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk
