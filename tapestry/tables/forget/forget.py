"""Remove rows for good: from the tables, the originals, the index and the history.

The tables are append-only, except that a person's mail can be forgotten, and mail can have a
retention time.  Files with such rows are written again without them, and the old ones are
deleted; so are the log's older entries and the index.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.contacts import book_of, calendar_of
from tapestry.core.files.checksummed_file import write_checksummed
from tapestry.core.files.durable import make_directory
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.mirror import read_mirrored, remove_mirrored, write_mirror
from tapestry.core.files.site_lock import site_lock
from tapestry.core.log import event
from tapestry.core.message import audience_digest
from tapestry.core.ports import Clock
from tapestry.core.schema import ANNOTATIONS, INDEXED, KEY_COLUMN, MESSAGES, THREADS
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.draft import Draft
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_check import drop_history
from tapestry.tables.delta.parquet_file import read_parquet
from tapestry.tables.keys.hash_runs import extend_index, text_array
from tapestry.tables.keys.tombstones import (
    add_tombstones,
    delete_tombstones,
    mark_history_incomplete,
)
from tapestry.tables.read.find import by_key
from tapestry.tables.rows import ORIGINALS
from tapestry.tables.write.append import locked_tables
from tapestry.tables.write.compact import (
    KEEP_HOURS,
    commit_rewritten,
    drop_old_files,
    merging,
    rewrite,
)
from tapestry.tables.write.staging import set_aside_audience

TABLES = (ORIGINALS, MESSAGES, ANNOTATIONS, THREADS)
_DERIVED = (ORIGINALS, THREADS)
"""Tables whose keys are those of messages."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Numbers of rows that were removed of each table, and the keys of messages and annotations.

    The keys are also those of a removal that did not end, and of which nobody was told.
    """

    rows: dict[str, int]
    keys: frozenset[str]

    @property
    def is_any(self) -> bool:
        """Tell whether anything is gone."""
        return bool(self.keys) or any(self.rows.values())


def to_nobody(gone: Forgotten) -> None:
    """Tell nobody what is gone."""


def forget(
    tables: Tables,
    clock: Clock,
    audience: str,
    before: int | None = None,
    alone: Callable[[], AbstractContextManager[None]] = nullcontext,
    then: Callable[[Forgotten], None] = to_nobody,
) -> Forgotten:
    """Remove the rows of an audience, or only those older than ``before``.

    Waits for a compaction.  Without ``before`` the old files are deleted at once, and a run that
    reads them fails and is repeated; what is staged goes too.  With it the files stay for a day,
    as after a compaction, and tombstones prevent the messages from being ingested again.

    The files are rewritten while others go on.  Within ``alone`` what was appended meanwhile is
    rewritten too, the rows go in one commit of each table, and ``then`` is told which: no run of
    a filter may come between the two.  If this process ends before all is done, or ``then`` raises
    an error, it is told (again) by the next call for the audience.
    """
    start = time.perf_counter()
    with site_lock(tables.root / "compact.lock", wait=FOREVER):
        if before is None:
            with locked_tables(tables, clock):  # what an import has published before is seen below
                staged = set_aside_audience(tables, audience)
            for directory in staged:
                shutil.rmtree(directory, ignore_errors=True)
        with ExitStack() as stack:
            all_removals = [
                _Removal(
                    tables, table, audience, before, stack.enter_context(Draft(tables.root / table))
                )
                for table in TABLES
            ]
            _rewrite(all_removals)
            stack.enter_context(alone())
            _rewrite(all_removals)
            rows = {removal.table: len(removal.keys) for removal in all_removals}
            keys = (removal.keys for removal in all_removals if removal.table not in _DERIVED)
            untold = _untold(tables.root, audience)
            gone = Forgotten(rows, _store_keys(untold, chain.from_iterable(keys)))
            for removal in all_removals:
                removal.commit()
            if before is None:
                delete_tombstones(tables.root, audience)
            then(gone)
        _drop_files(tables, clock, before, gone.is_any)
        remove_mirrored(untold)
    seconds = time.perf_counter() - start
    event("forget", audience=audience, before=before, **rows, seconds=seconds)
    return gone


def count_rows(tables: Tables, audience: str, before: int | None = None) -> dict[str, int]:
    """Return how many rows of each table `forget` would remove now."""
    removals = [
        _Removal(tables, table, audience, before, Draft(tables.root / table)) for table in TABLES
    ]
    return {
        removal.table: sum(map(len, map(removal.those_of, tables.data_files(removal.table))))
        for removal in removals
    }


def _untold(root: Path, audience: str) -> Path:
    """Return the file of the keys of an audience that go, and of which nobody was told yet."""
    return root / "forgetting" / audience_digest(audience)


def _store_keys(path: Path, keys: Iterable[str]) -> frozenset[str]:
    """Add keys to those of a file; return all."""
    stored = json.loads(read_mirrored(path)) if path.exists() else []
    every = frozenset(stored).union(keys)
    if every:
        make_directory(path.parent, 0o700)
        write_checksummed(path, json.dumps(sorted(every)).encode())
        write_mirror(path, path.read_bytes(), synced=True)
    return every


def _rewrite(removals: Iterable[_Removal]) -> None:
    """Write the files that were not seen yet anew; facts about messages go with these."""
    messages: list[str] = []
    for removal in removals:
        removal.rewrite(messages if removal.table == THREADS else ())
        if removal.table == MESSAGES:
            messages = removal.keys


@dataclass(slots=True)
class _Removal:
    """The rows that go from a table: a draft that replaces the files that hold any."""

    tables: Tables
    table: str
    audience: str
    before: int | None
    draft: Draft
    keys: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    named: frozenset[str] = frozenset()

    def rewrite(self, named: Collection[str] = ()) -> None:
        """Write the files that were not seen yet anew, without the rows that go.

        Those of the messages that are ``named`` go too, however new they are.
        """
        newer = self._instants_of(named)
        for data_file in self.tables.data_files(self.table):
            if data_file.path in self.seen:
                continue
            self.seen.add(data_file.path)
            is_newer = self.before is not None and data_file.min_ts >= self.before
            if is_newer and not any(data_file.min_ts <= ts <= data_file.max_ts for ts in newer):
                continue
            removed: list[str] = self.those_of(data_file)
            if removed:
                with merging(self.draft.root):
                    rewrite(self.draft, self.table, [data_file], self._keep)
                self.keys += removed

    def commit(self) -> None:
        """Have the rows gone; a message that went for its age has its tombstone before."""
        if not self.keys:
            return
        if self.before is not None:
            mark_history_incomplete(self.tables.root)
            if self.table == MESSAGES:
                add_tombstones(self.tables.root, self.audience, self.keys)
        with merging(self.draft.root):
            commit_rewritten(self.draft)

    def _instants_of(self, named: Collection[str]) -> list[int]:
        """Take the messages whose rows go; return the ``ts`` of those rows that are not old."""
        self.named = frozenset(named)
        if self.before is None or not named:
            return []
        files, root = self.tables.data_files(self.table), self.tables.root
        rows = by_key(files, root, self.table, "msgid", self.named, ["ts"], [self.audience])
        return sorted({ts for ts in rows["ts"].to_pylist() if ts >= self.before})

    def those_of(self, data_file: DataFile) -> list[str]:
        """Return the keys of the rows of a file that go."""
        key = KEY_COLUMN.get(self.table, "msgid")
        rows = read_parquet(data_file.path, list(dict.fromkeys(["audience", "ts", "msgid", key])))
        keys: list[str] = rows.filter(self._goes(rows))[key].to_pylist()
        return keys

    def _keep(self, rows: pa.Table) -> pa.Table:
        return rows.filter(pc.invert(self._goes(rows)))

    def _goes(self, rows: pa.Table) -> pa.Array:
        """Return a mask of the rows of the audience that are old, or of a message that is named."""
        goes = pc.equal(rows["audience"], self.audience)
        if self.before is None:
            return goes
        old = pc.less(rows["ts"], self.before)
        if self.table == ANNOTATIONS:  # address books and calendars do not age
            books = map(partial(pc.starts_with, rows["msgid"]), (book_of(""), calendar_of("")))
            of_books = pc.or_(*books)
            old = pc.and_not(old, pc.fill_null(of_books, False))
        if self.named:
            old = pc.or_(old, pc.is_in(rows["msgid"], text_array(self.named)))
        return pc.and_(goes, old)


def _drop_files(tables: Tables, clock: Clock, before: int | None, any_gone: bool) -> None:
    """Delete the files that held the rows, the log's entries that name them, and the index."""
    for table in TABLES:
        if before is None:
            with locked_tables(tables, clock):
                newest = drop_old_files(tables.open(table), 0, stray=True)
                drop_history(tables.root / table, newest)
        elif any_gone:
            drop_old_files(tables.open(table), KEEP_HOURS)
    if any_gone:
        shutil.rmtree(tables.root / "index", ignore_errors=True)
        for table in INDEXED:
            extend_index(tables, table)
