"""Pull: from a source to the tables, batch by batch, each with its cursor.

what ─> source ─> bytes ─ parse ─> Message ─ append (with cursor) ─> rows
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, Message
from tapestry.core.ports import Clock
from tapestry.ingest.archive import open_archive_source
from tapestry.ingest.imap import AskPassword, open_imap_source
from tapestry.ingest.parse import parse
from tapestry.ingest.source import Item, Source
from tapestry.tables.append import Cursor, append_messages, cursor_of
from tapestry.tables.log import Tables

BATCH = 2000
BATCH_BYTES = 32 * 1024 * 1024

_AUDIENCE = re.compile(r"public|(?:user|group):[^\s:]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

Progress = Callable[[int, int | None], None]
"""Told the number of messages read so far, and how many there are (None: unknown)."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What one pull did; ``broken`` messages were kept with what could be read of them."""

    read: int
    added: int
    duplicates: int
    broken: int
    seconds: float


@dataclass(slots=True)
class _Batch:
    messages: list[Message]
    origin: str = ""
    cursor: Cursor | None = None
    broken: int = 0


def ingest(
    what: str,
    tables: Tables,
    clock: Clock,
    audience: str = PUBLIC,
    progress: Progress | None = None,
    ask_password: AskPassword | None = None,
    now: Callable[[], int] = wall_clock,
    batch: int = BATCH,
) -> IngestReport:
    """Take in a file, directory or ``imap(s)://`` mailbox for an audience; go on if begun.

    Every batch is one append with one ``ts``.  Whoever is stopped, anywhere, and starts
    again takes in the rest, and nothing twice.  Raises TapestryError if the source cannot
    be read; what was appended before that stays.
    """
    check_audience(audience)
    started = time.monotonic()
    read = added = duplicates = broken = 0
    source = _open(what, tables, audience, ask_password)
    total = source.total() if progress else None
    for part in _batches(source, audience, batch):
        receipt = append_messages(tables, clock, part.messages, part.cursor, now)
        read += len(part.messages)
        added += receipt.added
        duplicates += receipt.duplicates
        broken += part.broken
        if progress:
            progress(read, total)
    return IngestReport(read, added, duplicates, broken, time.monotonic() - started)


def check_audience(audience: str) -> None:
    """Raise TapestryError unless this is ``public``, ``user:<id>`` or ``group:<id>``."""
    if not _AUDIENCE.fullmatch(audience):
        raise TapestryError(
            f"“{audience}” is not an audience.", hint="Write public, user:<name> or group:<name>."
        )


def _open(what: str, tables: Tables, audience: str, ask_password: AskPassword | None) -> Source:
    def reached(source: str) -> Cursor | None:
        return cursor_of(tables, source)

    scheme = _SCHEME.match(what)
    if not scheme:
        return open_archive_source(what, audience, reached)
    if scheme[1].lower() in ("imap", "imaps"):
        return open_imap_source(what, audience, reached, ask_password)
    raise TapestryError(
        f"Mail cannot be pulled from {scheme[1].lower()}:// as yet.",
        hint="Give an mbox, a Maildir, a directory of .eml files, or imap(s)://user@host/MAILBOX.",
    )


def _batches(source: Source, audience: str, size: int) -> Iterator[_Batch]:
    """Yield parsed batches; if the source breaks off, what came before it first."""
    batch, length = _Batch([]), 0
    items = source.items
    while True:
        try:
            item: Item | None = next(items, None)
        except TapestryError:
            if batch.messages:
                yield batch
            raise
        if item is None:
            break
        if batch.messages and item.origin != batch.origin:
            # A batch has one cursor, so it is of one origin.
            yield batch
            batch, length = _Batch([]), 0
        batch.origin = item.origin
        parsed = parse(item.raw, source.name, audience)
        batch.messages.append(parsed.message)
        batch.broken += parsed.broken
        batch.cursor = item.cursor or batch.cursor
        length += len(item.raw)
        if len(batch.messages) >= size or length >= BATCH_BYTES:
            yield batch
            batch, length = _Batch([]), 0
    if batch.messages:
        yield batch
