"""Locks of a site on PostgreSQL: advisory locks of a session that a process has for them.

    process ─ session ─ pg_try_advisory_lock ─> held until it is released, or the session ends

PostgreSQL releases what a session holds when it ends, whether or not its process does.  Others may
take it then: so a process that loses its session while it holds a lock ends, as if it were killed.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import OperationalError, connection

FIRST, LONGEST = 0.02, 0.5
"""Seconds between two tries to acquire a lock: twice as many each time, up to the longest."""

LOOK = 1.0
"""Seconds between two looks whether the session is still there, and still needed."""

UNUSED = 60
"""Looks after which a session that holds nothing is ended."""

NOTICE = {
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "connect_timeout": 10,
    "tcp_user_timeout": 12_000,
}
"""How soon a process notices that PostgreSQL is gone: sooner than PostgreSQL lets its locks go."""

_TRY = {
    False: "SELECT pg_try_advisory_lock(%s)",
    True: "SELECT pg_try_advisory_lock_shared(%s)",
}
_RELEASE = {
    False: "SELECT pg_advisory_unlock(%s)",
    True: "SELECT pg_advisory_unlock_shared(%s)",
}
_IS_HELD = """
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (classid::bigint << 32 | objid::bigint) = %s
)
"""


class AdvisoryLocks:
    """The locks that this process holds, each by one thread alone or shared by several."""

    def __init__(self) -> None:
        self._mutex = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._session: psycopg.Connection[tuple[bool]] | None = None
        self._alone: set[int] = set()
        self._shared = Counter[int]()

    @contextmanager
    def hold(self, path: Path, wait: float, *, shared: bool) -> Iterator[bool]:
        """Hold a lock; yield whether it was acquired within ``wait`` seconds, for ever if < 0.

        Raises OperationalError if PostgreSQL does not answer.
        """
        key, deadline, pause = _key(path), time.monotonic() + wait, FIRST
        while not (acquired := self._try(key, shared)):
            if wait >= 0 and time.monotonic() >= deadline:
                break
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)
        try:
            yield acquired
        finally:
            if acquired:
                self._release(key, shared)

    def is_held(self, path: Path) -> bool:
        """Return whether any process holds a lock."""
        with self._mutex:
            self._forget_parents()
            key = _key(path)
            return key in self._alone or self._shared[key] > 0 or self._ask(_IS_HELD, key)

    def close(self) -> None:
        """End the session, and with it all locks."""
        with self._mutex:
            if self._session is not None:
                self._session.close()
            self._begin()

    def _try(self, key: int, shared: bool) -> bool:
        with self._mutex:
            self._forget_parents()
            if key in self._alone or (self._shared[key] and not shared):
                return False
            if not self._shared[key] and not self._ask(_TRY[shared], key):
                return False
            if shared:
                self._shared[key] += 1
            else:
                self._alone.add(key)
            return True

    def _release(self, key: int, shared: bool) -> None:
        with self._mutex:
            if self._process != os.getpid():
                return
            if shared:
                self._shared[key] -= 1
            else:
                self._alone.discard(key)
            if not self._shared[key]:
                self._ask(_RELEASE[shared], key)

    def _ask(self, statement: str, key: int) -> bool:
        """Return what a statement says; one more session is opened if that of before was lost."""
        try:
            return self._asked(statement, key)
        except psycopg.Error:
            self._lose()
        try:
            return self._asked(statement, key)
        except psycopg.Error as error:
            self._lose()
            raise OperationalError(f"Locks cannot be had: {error}") from error

    def _asked(self, statement: str, key: int) -> bool:
        row = self._opened().execute(statement, (key,)).fetchone()
        return row is not None and row[0]

    def _opened(self) -> psycopg.Connection[tuple[bool]]:
        if self._session is None:
            # Of its own: nobody's transaction, and closed by nobody at the end of a task.
            params = {**connection.get_connection_params(), **NOTICE}
            self._session = psycopg.connect(**params, autocommit=True)
            threading.Thread(target=self._watch, args=(self._session,), daemon=True).start()
        return self._session

    def _watch(self, session: psycopg.Connection[tuple[bool]]) -> None:
        unused = 0
        while self._session is session:
            time.sleep(LOOK)
            with self._mutex:
                if self._session is not session:
                    return
                unused = 0 if self._holds_any() else unused + 1
                try:
                    session.execute("SELECT true")
                except psycopg.Error:
                    self._lose()
                if unused == UNUSED:
                    self.close()

    def _holds_any(self) -> bool:
        return bool(self._alone) or self._shared.total() > 0

    def _lose(self) -> None:
        """Begin another session; end this process if that of before held a lock."""
        if self._holds_any():
            print("The session with the locks of this process has ended.", file=sys.stderr)
            os._exit(1)
        self.close()

    def _forget_parents(self) -> None:
        """Leave the session of the process that this one was forked from to that."""
        if self._process != os.getpid():
            self._begin()


LOCKS = AdvisoryLocks()
"""Those of this process."""


def _key(path: Path) -> int:
    """Return the number of a lock: the same wherever a machine has the data directory."""
    data = Path(settings.DATA)
    name = str(path.relative_to(data) if path.is_relative_to(data) else path)
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)
