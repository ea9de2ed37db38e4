"""Publish a staged import (a bulk load): all its rows become visible at one ``ts``, in one commit.

    staged batches ─ new? ─> files with a ts shortly ahead ─ wait ─ lock ─> still right? ─> commit

An append writes its rows under the clock's lock.  An import is too large for that: everybody
would wait.  So its files are written before, with a ``ts`` in the near future, and committed
when the clock is almost there (optimistic concurrency).  If the clock has passed it, or one of
the messages came by another way meanwhile, the files are written again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import pyarrow as pa

from tapestry.core.clock import BEGINNING, SECOND, next_instant, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.ports import Clock
from tapestry.core.schema import MESSAGES, THREADS
from tapestry.identity.content import message_id_of
from tapestry.tables.delta.commit import checkpoint_if_due, commit_draft, write_rows
from tapestry.tables.delta.draft import Draft
from tapestry.tables.delta.log import newest_instant
from tapestry.tables.keys.hash_runs import extend_index_if_behind
from tapestry.tables.keys.tombstones import tombstone_version
from tapestry.tables.read.find import by_time
from tapestry.tables.rows import ORIGINALS, stamped
from tapestry.tables.write.append import (
    Announce,
    Receipt,
    append_rows,
    information,
    locked_tables,
    to_nobody,
    transactions_of,
)
from tapestry.tables.write.audience_markers import mark_audiences
from tapestry.tables.write.deduplicate import Deduplicator, repeated_among, with_keys
from tapestry.tables.write.staging import Staging, read_batch, read_keys
from tapestry.tables.write.threads import COMPLETE, HEADERS, derived, extend_threads

Pause = Callable[[float], None]
"""Wait for so many seconds."""

FILE_BYTES = 64 * 1024 * 1024
"""Bytes of rows of one data file, before compression; a batch is not divided."""

_BYTES_PER_SECOND = 30_000_000
"""The speed at which staged bytes are written to data files, at least, on most machines."""

_LEAST_LEAD = 0.3
_MARGIN = 0.2
"""Seconds before its ``ts`` from which on an import may be committed."""

_ATTEMPTS = 8


def publish(
    staging: Staging,
    clock: Clock,
    now: Callable[[], int] = wall_clock,
    pause: Pause = time.sleep,
    announce: Announce = to_nobody,
) -> Receipt:
    """Make all that is staged visible, with its cursors, and clear the staging.

    Messages that are in the tables already are left out.  Raises TapestryError if the rows
    cannot be written, or if others append the same mail all the time; then all stays staged.  So
    it does if the audience was forgotten meanwhile; then nothing of it becomes visible.
    """
    start = time.perf_counter()
    receipt = _Publication(staging, clock, now, pause, announce).run()
    staging.clear()
    for table in (MESSAGES, THREADS):
        extend_index_if_behind(staging.tables, table)
    for table in (MESSAGES, THREADS, ORIGINALS):
        checkpoint_if_due(staging.tables, table)
    event(
        "publish",
        rows=receipt.added,
        duplicates=receipt.duplicates,
        ts=receipt.ts,
        seconds=time.perf_counter() - start,
    )
    return receipt


@dataclass(frozen=True, slots=True)
class _Publication:
    """The publication of one import, with what ``publish`` was given."""

    staging: Staging
    clock: Clock
    now: Callable[[], int]
    pause: Pause
    announce: Announce

    def run(self) -> Receipt:
        if len(self.staging.batches()) == 1:
            return self._append()
        lead = _LEAST_LEAD + self.staging.bytes / _BYTES_PER_SECOND
        for _ in range(_ATTEMPTS):
            receipt = self._attempt(lead)
            if receipt is not None:
                return receipt
            lead *= 2
        raise TapestryError(
            "The mail cannot be made visible: other mail comes in all the time.",
            hint="Run it again: all of it is staged.",
        )

    def _append(self) -> Receipt:
        """Append the only batch as any other: it is small enough to hold the lock for."""
        messages, originals = read_batch(self.staging.batches()[0])
        receipt = append_rows(
            self.staging.tables,
            self.clock,
            MESSAGES,
            messages,
            next(iter(self.staging.cursors.values()), None),
            self.now,
            self.staging.is_dropped,
            originals,
            self.announce,
        )
        self.staging.check_is_there()
        return receipt

    def _attempt(self, lead: float) -> Receipt | None:
        """Write and commit what is staged, ``lead`` seconds from now; None if that was too soon."""
        begin, started = self.now(), time.monotonic()
        with self.clock.lock() as locked:
            last = max(locked.last, newest_instant(self.staging.tables))
        root = self.staging.tables.root
        with ExitStack() as stack:
            drafts = {
                table: stack.enter_context(Draft(root / table))
                for table in (ORIGINALS, MESSAGES, THREADS)
            }
            files = _NewFiles(self.staging, next_instant(begin, last) + int(lead * SECOND), drafts)
            try:
                files.write()
            except (TapestryError, FileNotFoundError) as error:
                # Where mail is forgotten meanwhile, what is half written goes with it.
                is_missing = FileNotFoundError in {type(error), type(error.__cause__)}
                if is_missing and not self.staging.is_dropped():
                    return None
                raise
            self.pause(max(0.0, lead - _MARGIN - (time.monotonic() - started)))
            return files.commit(self.clock, self.announce)


class _NewFiles:
    """The files of an import with one ``ts``, in a draft for each table.

    Its messages were looked up in the tables as they were at ``checked``.
    """

    def __init__(self, staging: Staging, ts: int, drafts: Mapping[str, Draft]) -> None:
        self.drafts = drafts
        self.tables, self.staging, self.ts = staging.tables, staging, ts
        self.checked = self.tables.data_files(MESSAGES)
        self.tombstones = self._tombstones()
        self.msgids: set[str] = set()
        repeated = repeated_among(map(read_keys, staging.batches()))
        self.deduplicator = Deduplicator(
            self.checked, self.tables.root, self.tables.data_files(ORIGINALS), repeated
        )
        self.staged = self.new = 0
        self.headers: list[pa.Table] = []
        self.joined: set[str] = set()
        self.follows_from_all = True

    def write(self) -> None:
        """Write the rows that the tables do not have."""
        waiting: list[tuple[pa.Table, pa.Table]] = []
        for path in self.staging.batches():
            waiting.append(self._new_rows(*read_batch(path)))
            if sum(rows.nbytes for pair in waiting for rows in pair) >= FILE_BYTES:
                self._write(waiting)
                waiting = []
        self._write(waiting)
        self._write_threads()

    def commit(self, clock: Clock, announce: Announce) -> Receipt | None:
        """Commit the files; None if it is too late for their ``ts``, or the tables have changed."""
        with locked_tables(self.tables, clock) as locked:
            self.staging.check_is_there()
            if max(locked.last, newest_instant(self.tables)) >= self.ts or self._is_outdated():
                return None
            transactions = transactions_of(self.tables, self.staging.cursors.values())
            if self.new:
                announce(self.ts)
                mark_audiences(self.tables.root, [self.staging.audience])
            described = information(self.ts) if self.new else {}
            extend_threads(self.tables, locked.confirm)
            of_tables = {MESSAGES: transactions, THREADS: {COMPLETE: self.ts} if self.new else {}}
            outdated = {THREADS} if self._is_joined() else set[str]()
            for table, draft in self.drafts.items():
                if table in outdated:
                    continue
                of_table = of_tables.get(table, {})
                if draft.actions or of_table:
                    commit_draft(self.tables, table, draft, of_table, described, locked.confirm)
            if self.new:
                extend_threads(self.tables, locked.confirm)
                locked.advance(self.ts)
        return Receipt(self.ts if self.new else None, self.new, self.staged - self.new)

    def _new_rows(self, messages: pa.Table, originals: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Return the rows whose messages are neither in the tables nor in an earlier batch."""
        self.staged += messages.num_rows
        keys = self.deduplicator.new_keys(messages, originals)
        new = with_keys(messages, keys)
        self.msgids.update(message_id_of(key) for key in keys if key is not None)
        self.new += new.num_rows
        self.headers.append(new.select([name for name in HEADERS if name != "ts"]))
        return new, with_keys(originals, keys)

    def _write(self, pairs: Sequence[tuple[pa.Table, pa.Table]]) -> None:
        """Write rows as one file of each table."""
        if not sum(messages.num_rows for messages, _ in pairs):
            return

        def write(table: str, parts: Sequence[pa.Table]) -> None:
            rows = stamped(table, pa.concat_tables(parts), self.ts)
            write_rows(self.tables, table, rows, self.drafts[table])

        with ThreadPoolExecutor() as pool:
            parts = zip((MESSAGES, ORIGINALS), zip(*pairs, strict=True), strict=True)
            writing = [pool.submit(write, table, rows) for table, rows in parts]
        for each in writing:
            each.result()

    def _write_threads(self) -> None:
        """Write the facts that follow from the new rows; remember what they are about."""
        if not self.new:
            return
        rows = pa.concat_tables(self.headers).to_pylist()
        self.headers = []
        complete = self.tables.transaction(THREADS, COMPLETE)
        self.follows_from_all = complete is None or complete >= self.checked.newest
        facts = derived(self.tables, rows, self.ts)
        write_rows(self.tables, THREADS, facts, self.drafts[THREADS])
        self.joined = {*facts["msgid"].to_pylist(), *(row["inreplyto"] for row in rows)}

    def _is_joined(self) -> bool:
        """Return whether threads of the import have got other messages, or facts, meanwhile.

        Then what follows from it is derived anew, under the lock.
        """
        if not self.follows_from_all:
            return True
        slices = [(self.checked.newest, -BEGINNING)]
        for table, names in ((MESSAGES, ("msgid", "inreplyto")), (THREADS, ("msgid",))):
            rows = by_time(self.tables.data_files(table), table, slices, names)
            if rows is not None and any(
                not self.joined.isdisjoint(filter(None, rows[name].to_pylist())) for name in names
            ):
                return True
        return False

    def _is_outdated(self) -> bool:
        """Return whether one of the messages was appended, or removed for its age, meanwhile.

        So it is if a removal for good has deleted the files, which no version names.
        """
        if not all(draft.is_whole() for draft in self.drafts.values()):
            return True
        slices = [(self.checked.newest, -BEGINNING)]
        rows = by_time(self.tables.data_files(MESSAGES), MESSAGES, slices, ["msgid", "audience"])
        appended = [] if rows is None else rows.to_pylist()
        return self._tombstones() != self.tombstones or any(
            row["audience"] == self.staging.audience and message_id_of(row["msgid"]) in self.msgids
            for row in appended
        )

    def _tombstones(self) -> frozenset[str]:
        return tombstone_version(self.tables.root, self.staging.audience)
