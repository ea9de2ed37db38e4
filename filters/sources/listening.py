"""Listen to all mailboxes at once, so that mail is here when it comes and not when it is due.

sources ─ reconcile ─> one thread per folder ─ IDLE ─> heard ─> due now ─> worker pulls

Only the first few folders of a source are listened to, for each takes a line of its own and
servers allow a person only so many; the others are looked at when they are due.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import connection

from filters.models import Heartbeat
from filters.models.source import Source
from filters.sources.credentials import account_of
from filters.sources.due import make_due
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.ingest.account import Account, RefusedError
from tapestry.ingest.backoff import pause_after
from tapestry.ingest.imap.idle import CannotIdleError, watch_mailbox

log = logging.getLogger(__name__)

FOLDERS = 3
MOST = 200
"""Lines that are listened to, in all."""

RECONCILE = 3.0
SIGN_OF_LIFE = 60.0
LONG = 3600.0
"""Seconds for which a server is left alone that cannot IDLE, or refused."""

Key = tuple[int, str]


@dataclass(slots=True)
class IdleWatcher:
    """One line that is listened to; ``as_it_was`` tells whether its source has changed since."""

    as_it_was: tuple[object, ...]
    thread: threading.Thread | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    listens: bool = False
    failures: int = 0
    not_before: float = 0.0

    @property
    def alive(self) -> bool:
        """Tell whether its thread runs."""
        return self.thread is not None and self.thread.is_alive()


class Listener:
    """All ears; ``turn`` is to be called about once a second."""

    def __init__(self, pull_soon: Callable[[int], None]) -> None:
        self.pull_soon = pull_soon
        self.watchers: dict[Key, IdleWatcher] = {}
        self.notified: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._reconciled = self._told = float("-inf")

    def turn(self) -> None:
        """Have those sources pulled that were heard of; listen to what there is by now."""
        notified = set()
        while not self.notified.empty():
            notified.add(self.notified.get())
        for source_id in notified:
            make_due(source_id)
            self.pull_soon(source_id)
        now = time.monotonic()
        if now - self._reconciled >= RECONCILE:
            self._reconciled = now
            self._reconcile(now)
        if notified or now - self._told >= SIGN_OF_LIFE:
            self._told = now
            listened = {
                source for (source, _folder), watcher in self.watchers.items() if watcher.listens
            }
            Source.objects.filter(pk__in=listened).update(listened_at=wall_clock())
            Heartbeat.objects.update_or_create(
                pk=Heartbeat.LISTENER, defaults={"ended_at": wall_clock()}
            )

    def stop(self) -> None:
        """End all threads."""
        for watcher in self.watchers.values():
            watcher.stop.set()
        for watcher in self.watchers.values():
            if watcher.thread is not None:
                watcher.thread.join(10)
        self.watchers.clear()

    def _reconcile(self, now: float) -> None:
        wanted = {(source.pk, folder): source for source, folder in _wanted()}
        for key in [key for key in self.watchers if key not in wanted]:
            self.watchers.pop(key).stop.set()
        for key, source in wanted.items():
            watcher = self.watchers.get(key)
            if watcher is not None and watcher.as_it_was != _as_it_is(source):
                watcher.stop.set()
                watcher = None
            if watcher is None:
                watcher = self.watchers[key] = IdleWatcher(_as_it_is(source))
            if not watcher.alive and now >= watcher.not_before:
                self._begin(key, watcher, source)

    def _begin(self, key: Key, watcher: IdleWatcher, source: Source) -> None:
        thread = threading.Thread(
            target=self._listen, args=(key, watcher, source), name=f"source {key}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            self._failed(watcher, TapestryError(f"{error}."))
        else:
            watcher.thread = thread

    def _listen(self, key: Key, watcher: IdleWatcher, source: Source) -> None:
        source_id, folder = key

        def notified() -> None:
            watcher.listens, watcher.failures = True, 0
            self.notified.put(source_id)

        try:
            # Here, for to renew a token may take long, and others are not to wait for it.
            watch_mailbox(_account_of(source), folder, notified, watcher.stop.is_set)
        except TapestryError as error:
            self._failed(watcher, error)
        except Exception as error:
            log.exception("Listening to source %s failed.", source_id)
            self._failed(watcher, TapestryError(type(error).__name__))
        finally:
            watcher.listens = False

    def _failed(self, watcher: IdleWatcher, error: TapestryError) -> None:
        watcher.failures += 1
        lasting = isinstance(error, CannotIdleError | RefusedError)
        pause = LONG if lasting else pause_after(watcher.failures, first=5.0, longest=LONG / 6)
        watcher.not_before = time.monotonic() + pause
        if not isinstance(error, CannotIdleError):
            log.warning("Not listening for %.0f s: %s", pause, error.message)


def _account_of(source: Source) -> Account:
    try:
        return account_of(source)
    finally:
        connection.close()  # it is this thread's


def _wanted() -> Iterator[tuple[Source, str]]:
    mailboxes = Source.objects.filter(
        kind=Source.Kind.IMAP, active=True, owner__is_active=True
    ).order_by("pk")
    listened = 0
    for source in mailboxes.iterator():
        for folder in sorted(source.folder_patterns, key=lambda name: name.upper() != "INBOX")[
            :FOLDERS
        ]:
            if listened == MOST:
                return
            listened += 1
            yield source, folder


def _as_it_is(source: Source) -> tuple[object, ...]:
    return (source.host, source.port, source.security, source.user, source.method, source.secret)
