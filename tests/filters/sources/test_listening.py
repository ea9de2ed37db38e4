"""The listener serves the mailboxes of many: what raises an error costs that mailbox alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from filters.sources.pull import listening
from tests.support.faults.set_asides import Planted

pytestmark = pytest.mark.django_db(transaction=True)


def source_of(owner: User) -> Source:
    made = Source(
        owner=owner, kind="imap", host=f"{owner}.example.org", port=143, security="none",
        user=owner.username, folder_patterns=["INBOX"], active=True, due_at=2**62,
        audience=f"user:{owner}",
    )  # fmt: skip
    keep_secret(made, "secret")
    made.save()
    return made


def reconcile(listener: listening.Listener) -> None:
    """Compare the watchers with the sources, and wait until all that are begun have ended."""
    listener._reconciled = float("-inf")
    listener.turn()
    for watcher in listener.watchers.values():
        if watcher.thread is not None:
            watcher.thread.join(120)


@pytest.mark.parametrize("broken", ["_watched_folders", "watch_mailbox"])
def test_a_mailbox_that_raises_is_set_aside_and_the_others_are_watched(
    alice: User, bob: User, as_user: Callable[[User], Client], broken: str,
    monkeypatch: pytest.MonkeyPatch, set_asides: Planted,
) -> None:  # fmt: skip
    errors, pulled, is_broken = set_asides.expect(), list[int](), True
    mine, theirs = source_of(alice), source_of(bob)

    def watch(account: Any, folder: str, on_mail: Callable[[], None], *_rest: Any) -> None:
        on_mail()
        connection.close()

    works = {"_watched_folders": listening._watched_folders, "watch_mailbox": watch}

    def fails(what: Any, *rest: Any) -> Any:
        if is_broken and what.user == "alice":
            raise KeyError
        return works[broken](what, *rest)

    monkeypatch.setattr(listening, "watch_mailbox", watch)
    monkeypatch.setattr(listening, broken, fails)
    listener = listening.Listener(pulled.append)
    reconcile(listener)
    reconcile(listener)
    assert set(pulled) == {theirs.pk} and len(errors) == 1
    aside = SetAside.objects.get()
    assert aside.key == f"{mine.pk}/listening"
    assert aside.reason in as_user(alice).get(mine.get_absolute_url()).content.decode()
    is_broken = False
    set_aside.try_now()
    listener.watchers.clear()
    reconcile(listener)
    reconcile(listener)
    assert mine.pk in pulled and not SetAside.objects.exists()


def test_many_mailboxes_of_one_person_keep_out_nobody_else(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "MOST", 3)
    first, second, _third = (source_of(alice) for _ in range(3))
    theirs = source_of(bob)
    watched = [source.pk for source, _ in listening._watchable()]
    assert watched == [first.pk, theirs.pk, second.pk]


def test_a_mailbox_is_complete_up_to_what_an_idle_said_last_unless_mail_waits(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, go_on, answered = source_of(alice), threading.Event(), threading.Semaphore(0)

    def watch(
        _account: Any, _folder: str, on_mail: Callable[[], None], _stop: Any, on_answer: Any
    ) -> None:
        on_mail()
        on_answer()
        answered.release()
        go_on.wait(60)

    def turns(*, is_pulled: bool = True) -> int | None:
        listener = listening.Listener(lambda _source: None)
        go_on.clear()
        for turn in ("begins", "is notified", "reports what was said by then"):
            listener._reconciled = listener._reported = float("-inf")
            listener.turn()
            if turn == "begins":
                assert all(answered.acquire(timeout=60) for _ in listener.watchers)
            if is_pulled:
                Source.objects.update(due_at=2**62)
        go_on.set()
        listener.stop()
        source.refresh_from_db()
        return source.complete_until

    monkeypatch.setattr(listening, "watch_mailbox", watch)
    assert turns() is None, "it has not been pulled to its end yet"
    Source.objects.update(complete_until=1)
    assert turns(is_pulled=False) == 1, "mail waits to be pulled"
    Source.objects.update(folder_patterns=["INBOX", "One", "Two", "Three"])
    assert turns() == 1, "a folder is not watched"
    Source.objects.update(folder_patterns=["INBOX"])
    assert (turns() or 0) > 1


def test_an_error_of_a_turn_ends_neither_the_listener_nor_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    turns = iter([KeyError(), KeyError(), None, KeyError(), SystemExit()])

    def turn(_listener: listening.Listener) -> None:
        if error := next(turns):
            raise error

    monkeypatch.setattr(listening.Listener, "turn", turn)
    monkeypatch.setattr("filters.sources.pull.listening.time.sleep", pauses.append)
    with pytest.raises(SystemExit):
        listening.listen()
    assert pauses == [0.5, 1.0, 0.5, 0.5]
