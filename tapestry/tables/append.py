"""Append under the clock's lock: one ``ts`` per append, every row and every cursor once.

    lock ─> cursor new? ─> rows new? ─> ts = next instant ─> Delta commit ─> clock ─> unlock

Who dies between two of these arrows does no harm: before the commit nothing has happened;
after it, whoever takes the lock next reads the newest ``ts`` from the logs themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, WriterProperties, write_deltalake
from deltalake.exceptions import DeltaError

from tapestry.core.clock import next_instant, wall_clock, watermark_instant
from tapestry.core.errors import TapestryError
from tapestry.core.message import Annotation, Message
from tapestry.core.ports import Clock
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.deduplicate import new_row_mask
from tapestry.tables.hash_runs import extend_index_if_behind
from tapestry.tables.log import Tables, newest_instant
from tapestry.tables.originals import Original, originals_to_arrow
from tapestry.tables.rows import ORIGINALS, ROW_GROUP, stamped, to_arrow

WRITER = WriterProperties(compression="ZSTD", compression_level=3, max_row_group_size=ROW_GROUP)
KEPT = WriterProperties(compression="ZSTD", compression_level=3, max_row_group_size=64)
"""How originals are written: one is read without unpacking many others."""

_CONTENT = " content"
"""What follows a source's name where the content of its cursor is kept."""

Step = Callable[[str], None]

Forbidden = Callable[[], bool]
"""Asked under the lock whether not to append: what it goes by may have changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a source has been taken in: all of it up to ``version`` is in the table.

    ``source`` names the source and what else makes positions comparable (an IMAP mailbox
    with its UIDVALIDITY, an archive with its fingerprint); ``version`` only grows (a UID,
    an offset).  Both are kept as a Delta app transaction of the commit that holds the rows.
    ``content`` is a number that tells whether what was taken in is still the same, if any.
    """

    source: str
    version: int
    content: int | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an append did; ``ts`` is None if no row was added, ``refused`` if it was forbidden."""

    ts: int | None
    added: int
    duplicates: int
    refused: bool = False


def _no_step(_name: str) -> None:
    """Do nothing at a step; tests die here instead."""


def never() -> bool:
    """Say no, whatever has changed meanwhile."""
    return False


def append_messages(
    tables: Tables,
    clock: Clock,
    messages: Sequence[Message],
    cursor: Cursor | None = None,
    now: Callable[[], int] = wall_clock,
    step: Step = _no_step,
    originals: Sequence[Original] | None = None,
    forbidden: Forbidden = never,
) -> Receipt:
    """Append those messages that are new, all with one ``ts``, together with the cursor.

    A message whose Message-ID and audience are in the table, or came earlier in the batch,
    is a duplicate.  If ``cursor`` is not newer than the stored one, the batch has been
    appended before, and nothing is.  ``originals`` are those of the messages, in their order.
    ``step`` is called with "locked", "read", "kept" (the originals), "committed" and
    "advanced" as each is reached.  Nothing is appended if it is ``forbidden``.
    """
    rows = to_arrow(MESSAGES, messages)
    kept = None if originals is None else originals_to_arrow(rows, originals)
    return _append(tables, clock, MESSAGES, rows, cursor, now, step, forbidden, kept)


def append_annotations(
    tables: Tables,
    clock: Clock,
    annotations: Sequence[Annotation],
    cursor: Cursor | None = None,
    now: Callable[[], int] = wall_clock,
    step: Step = _no_step,
    forbidden: Forbidden = never,
) -> Receipt:
    """Append those annotations whose annid is new to the table; else as append_messages."""
    rows = to_arrow(ANNOTATIONS, annotations)
    return _append(tables, clock, ANNOTATIONS, rows, cursor, now, step, forbidden)


def advance_watermark(tables: Tables, clock: Clock, now: Callable[[], int] = wall_clock) -> int:
    """Return the end of a run's window, and advance the clock to it.

    No row with ``ts`` at or before it will become visible later.
    """
    with clock.lock() as held:
        newest = newest_instant(tables.open(MESSAGES), tables.open(ANNOTATIONS))
        until = watermark_instant(now(), max(held.last, newest))
        held.advance(until)
    return until


def cursor_of(tables: Tables, source: str, table: str = MESSAGES) -> Cursor | None:
    """Return how far a source has been taken in, or None if it never was."""
    log = tables.open(table)
    version = log.transaction_version(source)
    if version is None:
        return None
    return Cursor(source, version, log.transaction_version(source + _CONTENT))


def _append(
    tables: Tables,
    clock: Clock,
    table: str,
    rows: pa.Table,
    cursor: Cursor | None,
    now: Callable[[], int],
    step: Step,
    forbidden: Forbidden,
    originals: pa.Table | None = None,
) -> Receipt:
    if not rows.num_rows and cursor is None:
        return Receipt(None, 0, 0)
    with clock.lock() as held:
        step("locked")
        if forbidden():
            return Receipt(None, 0, 0, refused=True)
        log = tables.open(table)
        if cursor is not None and not _is_newer(log, cursor):
            return Receipt(None, 0, rows.num_rows)
        is_fresh = new_row_mask(log, table, rows, tables.root)
        fresh = rows.filter(is_fresh)
        duplicates = rows.num_rows - fresh.num_rows
        step("read")
        if not fresh.num_rows:
            if cursor is not None:
                _commit(log, fresh, None, cursor)
                step("committed")
            return Receipt(None, 0, duplicates)
        other = tables.open(ANNOTATIONS if table == MESSAGES else MESSAGES)
        ts = next_instant(now(), max(held.last, newest_instant(log, other)))
        if originals is not None:
            kept = stamped(originals.filter(is_fresh), ts)
            _commit(tables.open(ORIGINALS), kept, ts, None, KEPT)
            step("kept")
        _commit(log, stamped(fresh, ts), ts, cursor)
        step("committed")
        held.advance(ts)
        step("advanced")
    extend_index_if_behind(tables, table)
    return Receipt(ts, fresh.num_rows, duplicates)


def _is_newer(log: DeltaTable, cursor: Cursor) -> bool:
    stored = log.transaction_version(cursor.source)
    return stored is None or cursor.version > stored


def _commit(
    log: DeltaTable,
    rows: pa.Table,
    ts: int | None,
    cursor: Cursor | None,
    writer: WriterProperties = WRITER,
) -> None:
    transactions = [] if cursor is None else [Transaction(cursor.source, cursor.version)]
    if cursor is not None and cursor.content is not None:
        transactions.append(Transaction(cursor.source + _CONTENT, cursor.content))
    metadata = {} if ts is None else {"tapestry.ts": str(ts)}
    properties = CommitProperties(custom_metadata=metadata, app_transactions=transactions)
    try:
        write_deltalake(
            log, rows, mode="append", writer_properties=writer, commit_properties=properties
        )
    except (DeltaError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise TapestryError(
            f"New rows cannot be written to {log.table_uri}: {reason}",
            hint="Make room on the disk, or make the directory yours to write; then run it again.",
        ) from error
