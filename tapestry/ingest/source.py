"""What every source of mail yields: bytes, and how far one has come with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tapestry.tables.append import Cursor


@dataclass(frozen=True, slots=True)
class Item:
    """One message's bytes; ``cursor``, if any, says that all of ``origin`` up to it is taken."""

    raw: bytes
    origin: str = ""
    cursor: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Something mail is pulled from, opened; ``total`` counts the items, where it can."""

    name: str
    items: Iterator[Item]
    total: Callable[[], int | None]
