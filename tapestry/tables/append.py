"""Append rows exactly once, under the clock's lock: one ``ts`` per append.

    lock ─> cursor new? ─> rows new? ─> ts = next instant ─> Delta commit ─> clock ─> unlock

Every append is idempotent.  A source's cursor is an app transaction of the Delta commit that
holds its rows: a repeated batch adds nothing.  Rows with known keys are left out (deduplication).
A process that dies before the commit has changed nothing; if it dies later, the next to take the
lock reads the newest ``ts`` from the logs themselves.  ``advance_watermark`` is punctuation: it
says that nothing earlier will become visible, even where nothing came.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, WriterProperties, write_deltalake

from tapestry.core.clock import next_instant, wall_clock, watermark_instant
from tapestry.core.log import event
from tapestry.core.message import Annotation, Message
from tapestry.core.ports import Clock
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.find import by_key
from tapestry.tables.hash_runs import extend_index_if_behind
from tapestry.tables.log import Tables, data_files_of, explained, newest_instant
from tapestry.tables.originals import Original, originals_to_arrow
from tapestry.tables.rows import ORIGINALS, ROW_GROUP, stamped, to_arrow
from tapestry.tables.tombstones import find_tombstones

WRITER = WriterProperties(compression="ZSTD", compression_level=3, max_row_group_size=ROW_GROUP)
ORIGINALS_WRITER = WriterProperties(compression="ZSTD", compression_level=3, max_row_group_size=64)
"""Small row groups: one original is read without unpacking many others."""

_CONTENT = " content"
"""The content of a source's cursor is stored under the source's name and this."""

Forbidden = Callable[[], bool]
"""Return whether the append is forbidden; called under the lock."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a source has been ingested: all of it up to ``version`` is in the table.

    ``source`` names the source and what else makes positions comparable (an IMAP folder with its
    UIDVALIDITY, an archive with its fingerprint); ``version`` only grows (a UID, an offset).
    ``content`` is a hash of the source's content up to there, if it has one.
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


def never() -> bool:
    """Return False: nothing forbids the append."""
    return False


def append_messages(
    tables: Tables,
    clock: Clock,
    messages: Sequence[Message],
    cursor: Cursor | None = None,
    now: Callable[[], int] = wall_clock,
    originals: Sequence[Original] | None = None,
    forbidden: Forbidden = never,
) -> Receipt:
    """Append the new messages, all with one ``ts``, together with the cursor.

    A message whose Message-ID and audience are in the table, or came earlier in the batch, is a
    duplicate.  If ``cursor`` is not newer than the stored one, nothing is appended.
    ``originals`` are in the order of the messages; each is stored if its message is.  Raise
    TapestryError if the rows cannot be written.
    """
    rows = to_arrow(MESSAGES, messages)
    raw = None if originals is None else originals_to_arrow(rows, originals)
    return _append(tables, clock, MESSAGES, rows, cursor, now, forbidden, raw)


def append_annotations(
    tables: Tables,
    clock: Clock,
    annotations: Sequence[Annotation],
    now: Callable[[], int] = wall_clock,
    forbidden: Forbidden = never,
) -> Receipt:
    """Append the annotations whose annid is new to the table; see append_messages."""
    rows = to_arrow(ANNOTATIONS, annotations)
    return _append(tables, clock, ANNOTATIONS, rows, None, now, forbidden)


def advance_watermark(tables: Tables, clock: Clock, now: Callable[[], int] = wall_clock) -> int:
    """Return the end of a run's window, and advance the clock to it.

    No row with ``ts`` at or before it will become visible later.
    """
    with clock.lock() as locked:
        newest = newest_instant(tables.open(MESSAGES), tables.open(ANNOTATIONS))
        until = watermark_instant(now(), max(locked.last, newest))
        locked.advance(until)
    return until


def cursor_of(tables: Tables, source: str) -> Cursor | None:
    """Return how far a source has been ingested, or None if it never was."""
    opened = tables.open(MESSAGES)
    cursor = stored_cursor(opened, source)
    return cursor and replace(cursor, content=opened.transaction_version(source + _CONTENT))


def stored_cursor(opened: DeltaTable, source: str) -> Cursor | None:
    """Return how far a source without contents has been ingested into an opened table.

    For many sources it is several times as fast as ``cursor_of``.
    """
    version = opened.transaction_version(source)
    return None if version is None else Cursor(source, version)


def _append(
    tables: Tables,
    clock: Clock,
    table: str,
    rows: pa.Table,
    cursor: Cursor | None,
    now: Callable[[], int],
    forbidden: Forbidden,
    originals: pa.Table | None = None,
) -> Receipt:
    if not rows.num_rows and cursor is None:
        return Receipt(None, 0, 0)
    start = time.perf_counter()
    with clock.lock() as locked:
        opened = tables.open(table)
        if forbidden():
            receipt = Receipt(None, 0, 0, refused=True)
        elif cursor is not None and not _is_newer(opened, cursor):
            receipt = Receipt(None, 0, rows.num_rows)
        else:
            is_new = new_row_mask(opened, table, rows, tables.root)
            new, ts = rows.filter(is_new), None
            if new.num_rows:
                other = tables.open(ANNOTATIONS if table == MESSAGES else MESSAGES)
                ts = next_instant(now(), max(locked.last, newest_instant(opened, other)))
                if originals is not None:
                    _commit_originals(tables.open(ORIGINALS), originals.filter(is_new), ts)
            if ts is not None or cursor is not None:
                _commit_rows(opened, new, ts, cursor)
            if ts is not None:
                locked.advance(ts)
            receipt = Receipt(ts, new.num_rows, rows.num_rows - new.num_rows)
    if receipt.added:
        extend_index_if_behind(tables, table)
    event(
        log,
        "append",
        table=table,
        rows=receipt.added,
        duplicates=receipt.duplicates,
        ts=receipt.ts,
        refused=receipt.refused,
        seconds=time.perf_counter() - start,
    )
    return receipt


def new_row_mask(log: DeltaTable, table: str, rows: pa.Table, root: Path) -> pa.Array:
    """Return for each row whether its key is neither in the log nor earlier in ``rows``.

    The key of a message is its Message-ID and audience, of an annotation its annid.  Keys are
    looked up in the index at ``root``; only rows newer than the index are scanned.  A message
    with a tombstone is not new.
    """
    columns = ["msgid", "audience"] if table == MESSAGES else ["annid"]
    keys = list(zip(*(rows.column(name).to_pylist() for name in columns), strict=True))
    stored = by_key(data_files_of(log), root, table, columns[0], {key[0] for key in keys}, columns)
    seen = set(zip(*(stored.column(name).to_pylist() for name in columns), strict=True))
    if table == MESSAGES:
        for audience, group in groupby(sorted(keys, key=itemgetter(1)), key=itemgetter(1)):
            msgids = {msgid for msgid, _ in group}
            seen.update((msgid, audience) for msgid in find_tombstones(root, audience, msgids))
    is_new = []
    for key in keys:
        is_new.append(key not in seen)
        seen.add(key)
    return pa.array(is_new, type=pa.bool_())


def _is_newer(opened: DeltaTable, cursor: Cursor) -> bool:
    stored = opened.transaction_version(cursor.source)
    return stored is None or cursor.version > stored


def _commit_originals(opened: DeltaTable, originals: pa.Table, ts: int) -> None:
    _commit(opened, originals, ORIGINALS_WRITER, ts, None)


def _commit_rows(opened: DeltaTable, rows: pa.Table, ts: int | None, cursor: Cursor | None) -> None:
    _commit(opened, rows, WRITER, ts, cursor)


def _commit(
    opened: DeltaTable,
    rows: pa.Table,
    writer: WriterProperties,
    ts: int | None,
    cursor: Cursor | None,
) -> None:
    metadata = {} if ts is None else {"tapestry.ts": str(ts)}
    transactions = [] if cursor is None else [Transaction(cursor.source, cursor.version)]
    if cursor is not None and cursor.content is not None:
        transactions.append(Transaction(cursor.source + _CONTENT, cursor.content))
    hint = "Make room on the disk, or make the directory yours to write; then run it again."
    with explained(f"New rows cannot be written to {opened.table_uri}", hint):
        write_deltalake(
            opened,
            rows if ts is None else stamped(rows, ts),
            mode="append",
            writer_properties=writer,
            commit_properties=CommitProperties(metadata, app_transactions=transactions),
        )
