"""Take in an opened source: parse its items, append them batch by batch with its cursor."""

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
BATCH_BYTES = 32 * 1024 * 1024
BATCH_SECONDS = 5.0
"""After which what has come is appended, however little."""

Progress = Callable[[int, int | None], None]
"""Told the number of messages read so far, and how many there are (None: unknown)."""

Stop = Callable[[], bool]
"""Asked whether to leave the rest for another time."""


@dataclass(slots=True)
class Tally:
    """What was taken in so far; ``broken`` messages were kept with what could be read."""

    read: int = 0
    added: int = 0
    duplicates: int = 0
    broken: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Return both together."""
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
    """Where mail goes, for whom, and who is told; ``batch`` messages are one append.

    ``stop`` is asked after every append; ``forbidden`` under its lock, and if so what was fetched
    is not kept: the cursor has not moved, so that it can be fetched again.
    ``workers`` processes parse, or none but this; they read ahead, so that what an item asks
    for ``now`` is kept without them only.
    """

    tables: Tables
    clock: Clock
    audience: str
    progress: Progress | None = None
    now: Callable[[], int] = wall_clock
    batch: int = BATCH
    stop: Stop = never
    workers: int = 0
    forbidden: Forbidden = never

    def cursor_of(self, origin: str) -> Cursor | None:
        """Return how far an origin has been taken in, or None if it never was."""
        return cursor_of(self.tables, origin)

    def cursors_by_now(self) -> CursorOf:
        """Return the function that tells how far any origin was taken in at this moment.

        Where there are many to ask for, it is several times as fast.
        """
        log = self.tables.open(MESSAGES)

        def taken(origin: str) -> Cursor | None:
            version = log.transaction_version(origin)
            return None if version is None else Cursor(origin, version)

        return taken


def ingest_batches(stream: MessageStream, target: IngestTarget, tally: Tally) -> bool:
    """Append what a source yields, counting it in ``tally``; return whether that was all.

    Every batch is one append with one ``ts``, together with the cursor.  If the source
    breaks off, what came before that is appended first.
    """
    progress = target.progress
    total = stream.total() if progress else None
    batches = _batches(stream, target.batch)
    for part, read in parsed(batches, stream.name, target.audience, target.workers):
        receipt = append_messages(
            target.tables,
            target.clock,
            [parsed_message.message for parsed_message in read],
            part.cursor,
            target.now,
            originals=[
                Original(raw, parsed_message.problems)
                for raw, parsed_message in zip(part.raws, read, strict=True)
            ],
            forbidden=target.forbidden,
        )
        if receipt.refused:
            return False
        tally.read += len(read)
        tally.added += receipt.added
        tally.duplicates += receipt.duplicates
        tally.broken += sum(parsed_message.broken for parsed_message in read)
        if progress and read:
            progress(tally.read, total)
        if target.stop():
            return False
    return True


def _batches(stream: MessageStream, size: int) -> Iterator[_Batch]:
    batch, length, began = _Batch(), 0, time.monotonic()
    items = stream.items
    while True:
        try:
            item: Item | None = next(items, None)
        except TapestryError:
            if batch:
                yield batch
            raise
        if item is None:
            break
        if batch and item.origin != batch.origin:
            # A batch has one cursor, so it is of one origin.
            yield batch
            batch, length = _Batch(), 0
        if not batch:
            began = time.monotonic()
        batch.origin = item.origin
        batch.cursor = item.cursor or batch.cursor
        if item.raw is not None:
            batch.raws.append(item.raw)
            length += len(item.raw)
        full = len(batch.raws) >= size or length >= BATCH_BYTES
        if batch and (full or item.now or time.monotonic() - began >= BATCH_SECONDS):
            yield batch
            batch, length = _Batch(), 0
    if batch:
        yield batch
