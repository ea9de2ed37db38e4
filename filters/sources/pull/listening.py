"""Watch mailboxes with IDLE (RFC 2177), so that new mail is pulled at once.

sources ─ reconcile ─> one thread per folder ─ IDLE ─> notified ─> due now ─> worker pulls

Each watch takes a connection, and servers limit the connections of a user: so only the first
few folders of a source are watched, and the others are pulled when they are due.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import NoReturn

from django.db import close_old_connections, connection

from filters.runs.models import Heartbeat, SetAside
from filters.site.settings.workers import LISTENER
from filters.site.work import set_aside
from filters.site.work.parts import machines
from filters.site.work.queues.disk_full_tasks import log_full
from filters.sources.accounts.credentials import account_of
from filters.sources.both_ways.delivery_folders import (
    is_delivery_folder,
    mailbox_of,
    parents_by_mailbox,
)
from filters.sources.models import Source
from filters.sources.schedule import LISTENING, make_due, rank_of_owner
from filters.sources.tasks import pull_soon
from tapestry.core.backoff import pause_after
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import is_disk_full
from tapestry.core.log import event
from tapestry.core.surroundings import is_unforeseen
from tapestry.ingest.imap.idle import CannotIdleError, watch_mailbox
from tapestry.run.limits.isolation import isolate
from tapestry.servers.account import Account, RefusedError

log = logging.getLogger(__name__)

FOLDERS = 3
"""Folders of a source that are watched."""

MOST = 200
"""Folders that are watched, in all."""

RECONCILE = 3.0
"""Seconds after which the watchers are compared with the sources again."""

HEARTBEAT = 60.0
LONG = 3600.0
"""Seconds before the next try with a server that has no IDLE, or refused."""

SOURCE = SetAside.Kind.SOURCE

Key = tuple[int, str]


def listen() -> NoReturn:
    """Listen to the mailboxes of all sources, once no other machine does.

    An error of a turn is logged, and ends nothing.
    """
    with machines.alone(LISTENER):
        _listen()


def _listen() -> NoReturn:
    listener, failures = Listener(pull_soon), 0
    while True:
        close_old_connections()
        try:
            listener.turn()
            failures = 0
        except Exception as error:
            failures += 1
            if is_disk_full(error):
                log_full("listener", error)
            else:
                log.exception("The listener goes on, though a turn of it failed.")
        time.sleep(max(0.5, pause_after(failures, first=0.5, longest=60.0)))


@dataclass(slots=True)
class IdleWatcher:
    """The watch of one folder; ``account`` shows whether its source was edited since.

    All mail until ``heard_at`` was notified of, as its server has said then; 0 before that.
    """

    account: tuple[object, ...]
    thread: threading.Thread | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    listens: bool = False
    heard_at: int = 0
    failures: int = 0
    not_before: float = 0.0


class Listener:
    """All watchers; call ``turn`` about once a second."""

    def __init__(self, pull_soon: Callable[[int], None]) -> None:
        self.pull_soon = pull_soon
        self.watchers: dict[Key, IdleWatcher] = {}
        self.notified: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._reconciled = self._reported = float("-inf")

    def turn(self) -> None:
        """Have the sources pulled that were notified of mail; reconcile the watchers."""
        notified, heard = set(), self._heard()
        while not self.notified.empty():
            notified.add(self.notified.get())
        for source_id in notified:
            make_due(source_id)
            self.pull_soon(source_id)
        now = time.monotonic()
        if now - self._reconciled >= RECONCILE:
            self._reconciled = now
            self._reconcile(now)
        if notified or now - self._reported >= HEARTBEAT:
            self._reported = now
            listened = {key[0] for key, watcher in self.watchers.items() if watcher.listens}
            at = wall_clock()
            Source.objects.filter(pk__in=listened).update(listened_at=at)
            Heartbeat.objects.update_or_create(pk=Heartbeat.LISTENER, defaults={"ended_at": at})
            _note_complete(heard, at)

    def _heard(self) -> dict[int, dict[str, int]]:
        """Return up to when mail was notified of, by source and watched folder."""
        heard: dict[int, dict[str, int]] = {}
        for (source_id, folder), watcher in self.watchers.items():
            if watcher.listens and watcher.heard_at:
                heard.setdefault(source_id, {})[folder] = watcher.heard_at
        return heard

    def stop(self) -> None:
        for watcher in self.watchers.values():
            watcher.stop.set()
        for watcher in self.watchers.values():
            if watcher.thread is not None:
                watcher.thread.join(10)
        self.watchers.clear()

    def _reconcile(self, now: float) -> None:
        wanted = {(source.pk, folder): source for source, folder in _watchable()}
        for key in [key for key in self.watchers if key not in wanted]:
            self.watchers.pop(key).stop.set()
        for key, source in wanted.items():
            watcher = self.watchers.get(key)
            if watcher is not None and watcher.account != _account_fields(source):
                watcher.stop.set()
                watcher = None
            if watcher is None:
                watcher = self.watchers[key] = IdleWatcher(_account_fields(source))
            is_alive = watcher.thread is not None and watcher.thread.is_alive()
            if not is_alive and now >= watcher.not_before:
                self._begin(key, watcher, source)

    def _begin(self, key: Key, watcher: IdleWatcher, source: Source) -> None:
        thread = threading.Thread(
            target=self._watch, args=(key, watcher, source), name=f"source {key}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            self._failed(key, watcher, error)
        else:
            watcher.thread = thread

    def _watch(self, key: Key, watcher: IdleWatcher, source: Source) -> None:
        source_id, folder = key

        def on_mail() -> None:
            if not watcher.listens:
                set_aside.clear(SOURCE, [f"{source_id}/{LISTENING}"])
                connection.close()  # this thread's own
            watcher.listens, watcher.failures = True, 0
            self.notified.put(source_id)

        def on_answer() -> None:
            watcher.heard_at = wall_clock()

        try:
            # In this thread: the refresh of a token may take long, and no other watch waits.
            watch_mailbox(_account_of(source), folder, on_mail, watcher.stop.is_set, on_answer)
        except Exception as error:
            if is_unforeseen(error):
                set_aside.add(SOURCE, f"{source_id}/{LISTENING}", error)
                connection.close()
            elif not isinstance(error, TapestryError):
                log.exception("Listening to source %s failed.", source_id)
            self._failed(key, watcher, error)
        finally:
            watcher.listens, watcher.heard_at = False, 0

    def _failed(self, key: Key, watcher: IdleWatcher, error: Exception) -> None:
        watcher.failures += 1
        lasting = isinstance(error, CannotIdleError | RefusedError)
        pause = LONG if lasting else pause_after(watcher.failures, first=5.0, longest=LONG / 6)
        watcher.not_before = time.monotonic() + pause
        if not isinstance(error, CannotIdleError):
            name = type(error).__name__
            event("watch_failed", source_id=key[0], error=name, retry_seconds=pause)


def _note_complete(heard: Mapping[int, Mapping[str, int]], now: int) -> None:
    """Store how far sources are complete of which each folder is watched and nothing waits.

    What was notified of is due since then, until it has been pulled.
    """
    idle = Source.objects.filter(pk__in=heard, active=True, failures=0, error="", due_at__gt=now)
    for source in idle.exclude(complete_until=None):
        folders = heard[source.pk]
        if all(folder in folders for folder in source.folder_patterns):
            until = min(folders[folder] for folder in source.folder_patterns)
            same = Source.objects.filter(pk=source.pk, folder_patterns=source.folder_patterns)
            same.filter(due_at__gt=now, complete_until__lt=until).update(complete_until=until)


def _account_of(source: Source) -> Account:
    try:
        return account_of(source)
    finally:
        connection.close()  # this thread's own


def _watchable() -> Iterator[tuple[Source, str]]:
    """Yield at most MOST folders, at most FOLDERS of each source, its INBOX first.

    Everybody's first source comes before anybody's second, and each in the order of their keys:
    what is watched stays.
    """
    mailboxes = Source.objects.filter(kind=Source.Kind.IMAP, active=True, owner__is_active=True)
    mailboxes = mailboxes.exclude(pk__in=set_aside.of(SOURCE).waiting_for(LISTENING))
    hidden = parents_by_mailbox()

    def folders_of(some: Sequence[Source]) -> list[tuple[Source, str]]:
        return [
            (source, folder)
            for source in some
            for folder in _watched_folders(source, hidden.get(mailbox_of(source), []))
        ]

    folders, failures = isolate(folders_of, list(mailboxes.order_by(rank_of_owner("pk"), "pk")))
    for source, error in failures:
        set_aside.add(SOURCE, f"{source.pk}/{LISTENING}", error)
    return islice(folders, MOST)


def _watched_folders(source: Source, hidden: Sequence[str]) -> list[str]:
    """Return the first folders that a source pulls; none that holds our deliveries."""
    pulled = [name for name in source.folder_patterns if not is_delivery_folder(name, hidden)]
    return sorted(pulled, key=lambda name: name.upper() != "INBOX")[:FOLDERS]


_account_fields = attrgetter("host", "port", "security", "user", "method", "secret")
