"""Ingest an opened stream: parse its items and append them batch by batch, each with its cursor.

A micro-batch is one append with one ``ts``, and its cursor is stored with the rows: a process
that is killed and started again ingests every message exactly once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from operator import add

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message, width
from tapestry.core.ports import Clock, Intake
from tapestry.core.surroundings import is_unforeseen
from tapestry.ingest.parallel import parse_batches
from tapestry.ingest.stream import Batch, MessageStream
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import (
    Cursor,
    Receipt,
    append_messages,
    joined,
    to_nobody,
)
from tapestry.tables.write.compact import compact_small_files

BATCH = 2000
"""Messages of one append, at most."""

BATCH_BYTES = 32 * 1024 * 1024
BATCH_SECONDS = 5.0
"""Seconds after which a batch is appended, however small it is."""

MOST_GUILTY = 20
"""Messages of a batch that are put aside; where more cannot be appended, none is to blame."""

Progress = Callable[[int, int | None], None]
"""Take the number of messages read so far, resumed ones too, and their total (None: unknown)."""


@dataclass(slots=True)
class Tally:
    """Counts of messages so far; ``broken`` ones were kept with what could be read of them.

    ``skipped`` are own deliveries: they are not among those that were ``read``.
    """

    read: int = 0
    added: int = 0
    duplicates: int = 0
    broken: int = 0
    skipped: int = 0

    @property
    def passed(self) -> int:
        """Return the number of messages that the cursor has passed."""
        return self.read + self.skipped

    def __add__(self, other: Tally) -> Tally:
        """Return the sum of two tallies."""
        return Tally(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """The tables that mail is appended to, its audience, and the application's port.

    ``workers`` processes parse; with 0 this process does.  Workers read ahead: ``Item.flush`` has
    effect only without them.
    """

    tables: Tables
    clock: Clock
    audience: str
    intake: Intake
    progress: Progress | None = None
    now: Callable[[], int] = wall_clock
    workers: int = 0


def ingest_batches(stream: MessageStream, target: IngestTarget, tally: Tally) -> bool:
    """Append the messages of a stream, counting them in ``tally``; return whether it ended.

    If the stream raises an error, what came before it is appended first.  A message that cannot be
    appended, for a reason that nobody foresaw, is put aside where the stream can do that; the
    error is raised after the others.
    """
    faults: list[Exception] = []
    complete = _ingest(stream, target, tally, faults)
    if faults:
        raise faults[0]
    return complete


def _ingest(
    stream: MessageStream, target: IngestTarget, tally: Tally, faults: list[Exception]
) -> bool:
    progress = target.progress
    total = stream.total() if progress else None
    for batch in parsed_batches(stream, target):
        try:
            receipt, put_aside = _append(stream, target, batch), 0
        except Exception as error:
            if stream.put_aside is None or not is_unforeseen(error):
                raise
            receipt, put_aside = _append_apart(stream, stream.put_aside, target, batch)
            faults.append(error)
        if receipt.refused:
            return False
        compact_small_files(target.tables)
        tally.read += len(batch.messages) - put_aside
        tally.added += receipt.added
        tally.duplicates += receipt.duplicates
        tally.broken += batch.broken
        tally.skipped += batch.skipped
        if progress and (batch.messages or batch.skipped):
            progress(stream.resumed.messages + tally.passed, total)
        if receipt.ts is not None:
            target.intake.note_append(receipt.ts)
        if target.intake.is_over():
            return False
    return True


def _append(stream: MessageStream, target: IngestTarget, batch: ParsedBatch) -> Receipt:
    return append_messages(
        target.tables,
        target.clock,
        batch.messages,
        batch.cursor,
        target.now,
        originals=batch.originals,
        forbidden=target.intake.is_forbidden,
        announce=(
            partial(target.intake.announce_import, stream.name) if batch.backlog else to_nobody
        ),
    )


def _append_apart(
    stream: MessageStream,
    put_aside: Callable[[int], None],
    target: IngestTarget,
    batch: ParsedBatch,
) -> tuple[Receipt, int]:
    """Append what can be of a batch that raised an error, and put the other messages aside.

    The cursor follows last: whoever dies before passes over nothing.  Return also how many were
    put aside; raise an error where they are too many, or without numbers.
    """
    guilty: list[int] = []

    def by_halves(places: Sequence[int]) -> list[Receipt]:
        try:
            return [_append(stream, target, batch.part(places))]
        except Exception as error:
            if not places or not is_unforeseen(error):
                raise
            if len(places) == 1:
                if batch.numbers[places[0]] is None or len(guilty) == MOST_GUILTY:
                    raise
                guilty.append(places[0])
                return []
        middle = len(places) // 2
        return by_halves(places[:middle]) + by_halves(places[middle:])

    receipts = by_halves(range(len(batch.messages)))
    if not any(receipt.refused for receipt in receipts):
        for place in guilty:
            put_aside(batch.numbers[place] or 0)
        receipts.append(_append(stream, target, replace(batch.part(()), cursor=batch.cursor)))
    return joined(receipts), len(guilty)


@dataclass(frozen=True, slots=True)
class ParsedBatch:
    """The messages of an append and their originals, with the cursor after them.

    ``skipped`` own deliveries were left out.  ``numbers`` are what the stream calls the messages.
    """

    messages: list[Message]
    originals: list[Original]
    cursor: Cursor | None
    backlog: bool
    skipped: int = 0
    numbers: Sequence[int | None] = ()

    def part(self, places: Sequence[int]) -> ParsedBatch:
        """Return the messages at some places, without a cursor."""
        messages = [self.messages[place] for place in places]
        originals = [self.originals[place] for place in places]
        return ParsedBatch(messages, originals, None, self.backlog)

    @property
    def broken(self) -> int:
        """Return the number of messages that could not be parsed in full."""
        return sum(bool(original.problems) for original in self.originals)


def parsed_batches(stream: MessageStream, target: IngestTarget) -> Iterator[ParsedBatch]:
    """Yield the messages of a stream in batches; before an error, all that came before it."""
    for batch, parsed in parse_batches(
        _batches(stream, target.intake), stream.name, target.audience, target.workers
    ):
        originals = [
            Original(
                source.raw if source.size is None else b"",
                read.problems,
                # They are their owner's own: who else may see the message may not see them.
                source.flags if width(target.audience) == 0 else (),
            )
            for source, read in zip(batch.messages, parsed, strict=True)
        ]
        numbers = [message.number for message in batch.messages]
        messages = [read.message for read in parsed]
        yield ParsedBatch(messages, originals, batch.cursor, batch.backlog, batch.skipped, numbers)


def _batches(stream: MessageStream, intake: Intake) -> Iterator[Batch]:
    batch, length, start = Batch(), 0, 0.0
    try:
        for item in stream.items:
            message = item.message
            # Asked before the cursor moves: what raises an error here is not passed over.
            is_own = message is not None and (message.delivered or intake.is_ours(message.raw))
            if batch and item.origin != batch.origin:
                # A batch has one cursor, so that all its messages are of one origin.
                yield batch
                batch, length = Batch(), 0
            if not batch:
                start = time.monotonic()
            batch.origin, batch.backlog = item.origin, item.backlog
            batch.cursor = item.cursor or batch.cursor
            if is_own:
                batch.skipped += 1
            elif message is not None:
                batch.messages.append(message)
                length += len(message.raw)
            is_full = len(batch.messages) >= BATCH or length >= BATCH_BYTES
            if batch and (is_full or item.flush or time.monotonic() - start >= BATCH_SECONDS):
                yield batch
                batch, length = Batch(), 0
    except Exception as error:
        if batch and (isinstance(error, TapestryError) or is_unforeseen(error)):
            yield batch
        raise
    if batch:
        yield batch
