"""Append rows exactly once, under the clock's lock: one ``ts`` per append.

    lock ─> cursor new? ─> rows new? ─> ts = next instant ─> Delta commit ─> clock ─> unlock

Every append is idempotent.  A source's cursor is an app transaction of the Delta commit that
holds its rows: a repeated batch adds nothing.  Rows with known keys are left out (deduplication).
A process that dies before the commit has changed nothing; if it dies later, the next to take the
lock reads the newest ``ts`` from the logs themselves.  ``advance_watermark`` is punctuation
[Law11 §7.1]: it says that nothing earlier will become visible, even where nothing came.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.clock import next_instant, wall_clock, watermark_instant
from tapestry.core.files.disk_space import require_room
from tapestry.core.log import event
from tapestry.core.message import Annotation, Message
from tapestry.core.ports import Clock, LockedClock
from tapestry.core.schema import ANNOTATIONS, MESSAGES, THREADS
from tapestry.tables.delta.commit import checkpoint_if_due, commit
from tapestry.tables.delta.draft import Confirm, revoke
from tapestry.tables.delta.log import Tables, newest_instant
from tapestry.tables.keys.hash_runs import extend_index_if_behind
from tapestry.tables.read.originals import Original, originals_to_arrow
from tapestry.tables.rows import ORIGINALS, stamped, to_arrow
from tapestry.tables.write.audience_markers import mark_audiences
from tapestry.tables.write.deduplicate import new_keys, with_keys
from tapestry.tables.write.threads import extend_threads

_CONTENT = " content"
"""The content of a source's cursor is stored under the source's name and this."""

Forbidden = Callable[[], bool]
"""Return whether the append is forbidden; called under the lock."""

Announce = Callable[[int], None]
"""Take the ``ts`` that new rows will have; called under the lock, before they are committed."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Progress of a source's ingestion: all of it up to ``version`` is in the table.

    ``source`` names the source and what else makes positions comparable (an IMAP folder with its
    UIDVALIDITY, an archive with its fingerprint); ``version`` only grows (a UID, an offset).
    ``content`` is a hash of the source's content up to there, if it has one.
    """

    source: str
    version: int
    content: int | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of an append; ``ts`` is None without a new row, ``refused`` if forbidden."""

    ts: int | None
    added: int
    duplicates: int
    refused: bool = False


def joined(receipts: Sequence[Receipt]) -> Receipt:
    """Return what some appends did together; the last ``ts``.

    >>> joined([Receipt(7, 2, 0), Receipt(None, 0, 1)])
    Receipt(ts=7, added=2, duplicates=1, refused=False)
    """
    return Receipt(
        max((receipt.ts for receipt in receipts if receipt.ts is not None), default=None),
        sum(receipt.added for receipt in receipts),
        sum(receipt.duplicates for receipt in receipts),
        any(receipt.refused for receipt in receipts),
    )


def never() -> bool:
    """Return False: nothing forbids the append."""
    return False


def to_nobody(ts: int) -> None:
    """Announce nothing."""


def append_messages(
    tables: Tables,
    clock: Clock,
    messages: Sequence[Message],
    cursor: Cursor | None = None,
    now: Callable[[], int] = wall_clock,
    originals: Sequence[Original] | None = None,
    forbidden: Forbidden = never,
    announce: Announce = to_nobody,
) -> Receipt:
    """Append the new messages, all with one ``ts``, together with the cursor.

    A message whose Message-ID and audience are in the table, or came earlier in the batch, is a
    duplicate if it has the same content; else it is kept beside the first, under another key
    (tapestry.tables.write.deduplicate).  If ``cursor`` is not newer than the stored one, nothing is
    appended.
    ``originals`` are in the order of the messages; each is stored if its message is.  Raise
    TapestryError if the rows cannot be written, DiskFullError before the disk is full.
    """
    rows = to_arrow(MESSAGES, messages)
    raw = None if originals is None else originals_to_arrow(rows, originals)
    return append_rows(tables, clock, MESSAGES, rows, cursor, now, forbidden, raw, announce)


def append_annotations(
    tables: Tables,
    clock: Clock,
    annotations: Sequence[Annotation],
    now: Callable[[], int] = wall_clock,
    forbidden: Forbidden = never,
) -> Receipt:
    """Append the annotations whose annid is new to the table; see append_messages."""
    rows = to_arrow(ANNOTATIONS, annotations)
    return append_rows(tables, clock, ANNOTATIONS, rows, None, now, forbidden)


@contextmanager
def locked_tables(tables: Tables, clock: Clock) -> Iterator[LockedClock]:
    """Hold the clock; nothing is appended any more by whoever had it before."""
    with clock.lock() as locked:
        for table in (ORIGINALS, MESSAGES, ANNOTATIONS, THREADS):
            revoke(tables.root / table)
        yield locked


def advance_watermark(tables: Tables, clock: Clock, now: Callable[[], int] = wall_clock) -> int:
    """Return the end of a run's window, and advance the clock to it.

    No row with ``ts`` at or before it will become visible later.
    """
    with locked_tables(tables, clock) as locked:
        extend_threads(tables, locked.confirm)
        until = watermark_instant(now(), max(locked.last, newest_instant(tables)))
        locked.advance(until)
    return until


def cursor_of(tables: Tables, source: str) -> Cursor | None:
    """Return how far a source has been ingested, or None if it never was."""
    version = tables.transaction(MESSAGES, source)
    if version is None:
        return None
    return Cursor(source, version, tables.transaction(MESSAGES, source + _CONTENT))


def append_rows(
    tables: Tables,
    clock: Clock,
    table: str,
    rows: pa.Table,
    cursor: Cursor | None,
    now: Callable[[], int],
    forbidden: Forbidden,
    originals: pa.Table | None = None,
    announce: Announce = to_nobody,
) -> Receipt:
    """Append the new rows of a table and their originals; see append_messages."""
    if not rows.num_rows and cursor is None:
        return Receipt(None, 0, 0)
    require_room(tables.root)
    start = time.perf_counter()
    with locked_tables(tables, clock) as locked:
        if forbidden():
            receipt = Receipt(None, 0, 0, refused=True)
        elif cursor is not None and not _is_newer(tables, cursor):
            receipt = Receipt(None, 0, rows.num_rows)
        else:
            data_files = tables.data_files(table)
            stored = tables.data_files(ORIGINALS) if originals is not None else ()
            keys = new_keys(data_files, table, rows, tables.root, originals, stored)
            new, ts = with_keys(rows, keys), None
            if new.num_rows:
                other = tables.data_files(ANNOTATIONS if table == MESSAGES else MESSAGES)
                newest = max(data_files.newest, other.newest)
                ts = next_instant(now(), max(locked.last, newest))
                announce(ts)
                mark_audiences(tables.root, pc.unique(new["audience"]).to_pylist())
                if originals is not None:
                    _commit_originals(tables, with_keys(originals, keys), ts, locked.confirm)
            if ts is not None or cursor is not None:
                _commit_rows(tables, table, new, ts, cursor, locked.confirm)
            if ts is not None:
                if table == MESSAGES:
                    extend_threads(tables, locked.confirm)
                locked.advance(ts)
            receipt = Receipt(ts, new.num_rows, rows.num_rows - new.num_rows)
    derived = (THREADS,) if table == MESSAGES else ()
    if receipt.added:
        for indexed in (table, *derived):
            extend_index_if_behind(tables, indexed)
    for written in (table, *derived, *(() if originals is None else (ORIGINALS,))):
        checkpoint_if_due(tables, written)
    event(
        "append",
        table=table,
        rows=receipt.added,
        duplicates=receipt.duplicates,
        ts=receipt.ts,
        refused=receipt.refused,
        seconds=time.perf_counter() - start,
    )
    return receipt


def _is_newer(tables: Tables, cursor: Cursor) -> bool:
    stored = tables.transaction(MESSAGES, cursor.source)
    return stored is None or cursor.version > stored


def _commit_originals(tables: Tables, originals: pa.Table, ts: int, confirm: Confirm) -> None:
    commit(tables, ORIGINALS, stamped(ORIGINALS, originals, ts), {}, information(ts), confirm)


def _commit_rows(
    tables: Tables,
    table: str,
    rows: pa.Table,
    ts: int | None,
    cursor: Cursor | None,
    confirm: Confirm,
) -> None:
    transactions = {} if cursor is None else _transactions(cursor)
    if ts is None:
        commit(tables, table, rows, transactions, {}, confirm)
    else:
        commit(tables, table, stamped(table, rows, ts), transactions, information(ts), confirm)


def transactions_of(tables: Tables, cursors: Iterable[Cursor]) -> dict[str, int]:
    """Return the app transactions of those cursors that are newer than the stored ones."""
    transactions: dict[str, int] = {}
    for cursor in cursors:
        if _is_newer(tables, cursor):
            transactions |= _transactions(cursor)
    return transactions


def _transactions(cursor: Cursor) -> dict[str, int]:
    content = {} if cursor.content is None else {cursor.source + _CONTENT: cursor.content}
    return {cursor.source: cursor.version, **content}


def information(ts: int) -> dict[str, str]:
    """Return what a commit says of the ``ts`` of its rows, for people to read."""
    return {"tapestry.ts": str(ts)}
