"""The stream of every source of mail: the bytes of messages, with cursors to resume from.

The cursor is stored with the rows, in one append, so that ingestion is exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from tapestry.ingest.large_message import RawMessage
from tapestry.tables.write.append import Cursor

CursorOf = Callable[[str], Cursor | None]
"""Return the stored cursor of an origin, or None if nothing was ingested from it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A message, or None where the cursor may still advance; ``cursor`` covers ``origin`` up to it.

    With ``flush`` everything up to here is appended before the next item is read.  Messages of the
    ``backlog`` were there at the first look.
    """

    message: RawMessage | None
    origin: str = ""
    cursor: Cursor | None = None
    flush: bool = False
    backlog: bool = False


@dataclass(slots=True)
class Batch:
    """The messages of one append, all of one origin, and the cursor after them.

    ``skipped`` counts own deliveries, which are passed over.
    """

    messages: list[RawMessage] = field(default_factory=list)
    origin: str = ""
    cursor: Cursor | None = None
    backlog: bool = False
    skipped: int = 0

    def __bool__(self) -> bool:
        return bool(self.messages or self.skipped) or self.cursor is not None


@dataclass(slots=True)
class Resumed:
    """The number of a stream's items that were ingested before; known once reading has begun."""

    messages: int = 0


@dataclass(frozen=True, slots=True)
class MessageStream:
    """An opened source of mail; ``total`` returns the number of its items, None if unknown.

    Those ``resumed`` count in the total, and are not among the items.  ``put_aside`` takes the
    number of a message that cannot be appended: it comes again later, and the cursor may pass it.
    """

    name: str
    items: Iterator[Item]
    total: Callable[[], int | None]
    resumed: Resumed = field(default_factory=Resumed)
    put_aside: Callable[[int], None] | None = None


def read_within(guard: AbstractContextManager[None], items: Iterator[Item]) -> Iterator[Item]:
    """Yield items; all of them are read within the context ``guard``."""
    with guard:
        yield from items


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """A folder that a server lists; the number of its messages, and its title, if that says so."""

    name: str
    messages: int | None = None
    title: str = ""
