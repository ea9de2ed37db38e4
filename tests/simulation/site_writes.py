"""Every write of a site is a point at which it may end, or fail.

A write is a commit of the database, a name given or taken in a directory (link, rename, unlink),
a file synced, or an answer of an endpoint that was not stored yet.  They are counted from the
order on in which a fault was asked for.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.simulation.site_losses import Losses

ENDED = 86
"""The status with which a site ends that was to end."""

OF_ENGINE = ("too slow", "too many", "stuck", "broken")
"""Faults of the engine: they happen at a statement, and not at a write."""

UNNOTICED = 4
"""Writes, at most, of a site that has lost its locks and does not know it yet."""

SPLITS = ("split", "split_link")
"""A site stands still, and loses its locks: at any write, or as it commits an entry of a log."""

OF_LINKS = ("link_error", "split_link")

CODES = {"io_error": errno.EIO, "disk_full": errno.ENOSPC, "link_error": errno.EIO}


class Writes:
    """The writes so far, and what becomes of the one that is ``at`` ahead."""

    def __init__(self) -> None:
        self.kind = ""
        self.at = self.done = 0
        self.fired = False
        self.lose: Callable[[], None] = lambda: None
        self.stand_still: Callable[[], bool] = lambda: False
        self.is_lost = self.has_lost_session = False

    def plan(self, kind: str, at: int) -> None:
        """Have a fault happen at a write, 1 being the next; "" is none."""
        self.kind, self.at, self.done, self.fired = kind, at, 0, False

    def point(self, what: str) -> None:
        """Take one write: end or fail here if it is the one."""
        if self.kind in OF_ENGINE or (self.kind in OF_LINKS and what != "link"):
            return
        self.done += 1
        if not self.kind or self.done != self.at:
            return
        if self.kind in ("crash", "power"):
            if self.kind == "power":
                self.lose()
            end()
        if self.kind in SPLITS:
            # What has lost its locks notices it before long.
            self.kind, self.at, self.is_lost = "crash", self.done + 1 + self.at % UNNOTICED, True
            self.has_lost_session = self.stand_still()
            return
        if what != "answer":
            self.fired, code = True, CODES[self.kind]
            raise OSError(code, os.strerror(code))

    def statement(self) -> str:
        """Take one statement; return the fault of the engine that it meets, "" for none."""
        if self.kind not in OF_ENGINE or self.fired:
            return ""
        self.done += 1
        self.fired = self.done == self.at
        return self.kind if self.fired else ""


def end() -> None:
    """End this process, as a kill does."""
    os._exit(ENDED)


writes = Writes()


def watch_writes(data: Path, seed: str) -> None:
    """Have all writes of this process be counted, and what is not synced be known."""
    losses = Losses(data, seed)
    losses.watch()
    writes.lose = losses.lose
    for name in ("link", "replace", "rename", "unlink", "fsync"):
        setattr(os, name, _counted(name, getattr(os, name)))
    from django.db import OperationalError
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.sqlite3.base import SQLiteCursorWrapper

    commit, execute = BaseDatabaseWrapper._commit, SQLiteCursorWrapper.execute

    def counted_commit(self: Any) -> None:
        _of_database(OperationalError)
        commit(self)

    def counted_execute(self: Any, query: str, params: Any = None) -> Any:
        if writes.has_lost_session:
            end()
        writing = (
            not query.lstrip()[:6]
            .upper()
            .startswith(("SELECT", "PRAGMA", "BEGIN", "SAVEPO", "RELEAS"))
        )
        if writing and not self.db.in_atomic_block:
            _of_database(OperationalError)
        return execute(self, query, params)

    BaseDatabaseWrapper._commit = counted_commit
    SQLiteCursorWrapper.execute = counted_execute
    SQLiteCursorWrapper.db = property(lambda self: _connection())


def _connection() -> Any:
    from django.db import connection

    return connection


def _counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        writes.point(name)
        return real(*args, **options)

    return call


def _of_database(error: type[Exception]) -> None:
    try:
        writes.point("commit")
    except OSError as failure:
        words = "database or disk is full" if failure.errno == errno.ENOSPC else "disk I/O error"
        raise error(words) from failure
    if writes.has_lost_session:
        end()
