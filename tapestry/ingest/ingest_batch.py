"""Ingest an opened stream: parse its items and append them batch by batch, each with its cursor.

Micro-batches: one append has one ``ts`` and stores the cursor with the rows, so that a process
that is killed and started again ingests every message exactly once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.ports import Clock
from tapestry.core.schema import MESSAGES
from tapestry.ingest.parallel import parsed
from tapestry.ingest.stream import CursorOf, Item, MessageStream
from tapestry.tables.append import Cursor, Forbidden, append_messages, cursor_of, never
from tapestry.tables.log import Tables
from tapestry.tables.originals import Original

BATCH = 2000
"""Messages of one append, at most."""

BATCH_BYTES = 32 * 1024 * 1024
BATCH_SECONDS = 5.0
"""Seconds after which a batch is appended, however small it is."""

Progress = Callable[[int, int | None], None]
"""Take the number of messages read so far and their total (None: unknown)."""

Stop = Callable[[], bool]
"""Return whether to leave the rest for another time."""


@dataclass(slots=True)
class Tally:
    """Counts of messages so far; ``broken`` ones were kept with what could be read of them."""

    read: int = 0
    added: int = 0
    duplicates: int = 0
    broken: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Return the sum of two tallies."""
        return Tally(
            self.read + other.read,
            self.added + other.added,
            self.duplicates + other.duplicates,
            self.broken + other.broken,
        )


@dataclass(slots=True)
class _Batch:
    raws: list[bytes] = field(default_factory=list)
    origin: str = ""
    cursor: Cursor | None = None

    def __bool__(self) -> bool:
        return bool(self.raws) or self.cursor is not None


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """The tables that mail is appended to, its audience, and the callbacks of an ingestion.

    ``stop`` is called after every append.  ``forbidden`` is called under the lock of the
    append: if it returns True, the batch is discarded and the cursor stays, so that the same
    messages can be fetched again.  ``workers`` processes parse; with 0 this process does.
    Workers read ahead, so that ``Item.flush`` is kept without them only.
    """

    tables: Tables
    clock: Clock
    audience: str
    progress: Progress | None = None
    now: Callable[[], int] = wall_clock
    stop: Stop = never
    workers: int = 0
    forbidden: Forbidden = never

    def cursor_of(self, origin: str) -> Cursor | None:
        """Return the stored cursor of an origin, or None if nothing was ingested from it."""
        return cursor_of(self.tables, origin)

    def cursors_by_now(self) -> CursorOf:
        """Return a lookup of the cursors of all origins as they are at this moment.

        For many origins it is several times as fast as ``cursor_of``.
        """
        log = self.tables.open(MESSAGES)

        def stored(origin: str) -> Cursor | None:
            version = log.transaction_version(origin)
            return None if version is None else Cursor(origin, version)

        return stored


def ingest_batches(stream: MessageStream, target: IngestTarget, tally: Tally) -> bool:
    """Append the messages of a stream, counting them in ``tally``; return whether it ended.

    If the stream raises an error, what came before it is appended first.
    """
    progress = target.progress
    total = stream.total() if progress else None
    for batch, messages in parsed(_batches(stream), stream.name, target.audience, target.workers):
        receipt = append_messages(
            target.tables,
            target.clock,
            [parsed_message.message for parsed_message in messages],
            batch.cursor,
            target.now,
            originals=[
                Original(raw, parsed_message.problems)
                for raw, parsed_message in zip(batch.raws, messages, strict=True)
            ],
            forbidden=target.forbidden,
        )
        if receipt.refused:
            return False
        tally.read += len(messages)
        tally.added += receipt.added
        tally.duplicates += receipt.duplicates
        tally.broken += sum(parsed_message.broken for parsed_message in messages)
        if progress and messages:
            progress(tally.read, total)
        if target.stop():
            return False
    return True


def _batches(stream: MessageStream) -> Iterator[_Batch]:
    batch, length, began = _Batch(), 0, time.monotonic()
    while True:
        try:
            item: Item | None = next(stream.items, None)
        except TapestryError:
            if batch:
                yield batch
            raise
        if item is None:
            break
        if batch and item.origin != batch.origin:
            # A batch has one cursor, so that all its messages are of one origin.
            yield batch
            batch, length = _Batch(), 0
        if not batch:
            began = time.monotonic()
        batch.origin = item.origin
        batch.cursor = item.cursor or batch.cursor
        if item.raw is not None:
            batch.raws.append(item.raw)
            length += len(item.raw)
        is_full = len(batch.raws) >= BATCH or length >= BATCH_BYTES
        if batch and (is_full or item.flush or time.monotonic() - began >= BATCH_SECONDS):
            yield batch
            batch, length = _Batch(), 0
    if batch:
        yield batch
