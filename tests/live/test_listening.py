"""New mail is heard of at once, over any number of broken lines, and whatever is changed."""

from __future__ import annotations

import threading
import time

import pytest

from filters.people.models import User
from filters.sources.accounts.credentials import account_of, keep_secret
from filters.sources.models import Source
from filters.sources.pull.listening import Listener
from filters.sources.schedule import due
from tapestry.core.errors import TapestryError
from tapestry.ingest.imap.idle import watch_mailbox
from tapestry.servers.account import ANYWHERE, Account, ConnectionLostError
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.dovecot import PASSWORD, USER

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

SOON = 120.0


def mail(n):
    return f"Message-ID: <{n}@x.org>\r\nFrom: joe@x.org\r\n\r\nHi\r\n".encode()


@pytest.fixture
def line(dovecot):
    proxy = CuttingProxy(dovecot.port)
    yield proxy
    proxy.close()


@pytest.fixture
def folder(dovecot, request):
    name = request.node.name
    dovecot.put(name)
    return name


def account(port):
    return Account("imap", "127.0.0.1", port, "none", USER, PASSWORD, allowed=ANYWHERE)


def wait_for(what, turn=lambda: None):
    until = time.monotonic() + SOON
    while not what():
        assert time.monotonic() < until
        turn()
        time.sleep(0.05)


class Listening:
    """One line that is listened to, in a thread."""

    def __init__(self, port, folder):
        self.notified, self.error = [], None
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(port, folder), daemon=True)
        self.thread.start()
        wait_for(lambda: self.notified or self.error)

    def _run(self, port, folder):
        try:
            watch_mailbox(
                account(port),
                folder,
                lambda: self.notified.append(time.monotonic()),
                self.stop.is_set,
            )
        except TapestryError as error:
            self.error = error

    def end(self):
        self.stop.set()
        self.thread.join(SOON)


def test_mail_is_heard_of_within_seconds(dovecot, folder):
    listening = Listening(dovecot.port, folder)
    for n in range(2):
        before = len(listening.notified)
        dovecot.put(folder, mail(n))
        wait_for(lambda: len(listening.notified) > before)  # noqa: B023
    listening.end()
    assert listening.error is None


def test_mail_is_heard_of_while_listening_is_begun_anew_all_the_time(dovecot, folder, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.imap.idle.RENEW", 0.01)
    listening = Listening(dovecot.port, folder)
    for n in range(5):
        before = len(listening.notified)
        dovecot.put(folder, mail(n))
        wait_for(lambda: len(listening.notified) > before)  # noqa: B023
    listening.end()
    assert listening.error is None


def test_a_line_that_is_cut_is_noticed(line, folder):
    line.cuts = [100_000]
    listening = Listening(line.port, folder)
    line.hang_up()
    wait_for(lambda: listening.error)
    assert isinstance(listening.error, ConnectionLostError)


def test_a_wrong_folder_is_one_sentence(dovecot):
    listening = Listening(dovecot.port, "Nowhere")
    assert "has no mailbox Nowhere" in listening.error.message


@pytest.fixture
def source(line, folder, settings, tmp_path):
    settings.DATA = tmp_path
    made = Source(
        owner=User.objects.create_user("alice"),
        kind="imap",
        host="127.0.0.1",
        port=line.port,
        security="none",
        user=USER,
        folder_patterns=[folder],
        active=True,
        audience="user:alice",
        due_at=2**62,
    )
    keep_secret(made, PASSWORD)
    made.save()
    return made


@pytest.fixture
def listener(source, monkeypatch):
    monkeypatch.setattr("filters.sources.pull.listening.RECONCILE", 0.0)
    pulled = []
    made = Listener(pulled.append)
    made.pulled = pulled
    wait_for(lambda: pulled, made.turn)
    yield made
    made.stop()


def test_a_source_is_pulled_when_mail_comes(dovecot, source, folder, listener):
    assert due() == [source.pk]
    source.refresh_from_db()
    assert source.listened_at is not None
    Source.objects.update(due_at=2**62)
    dovecot.put(folder, mail(1))
    wait_for(due, listener.turn)
    assert listener.pulled == [source.pk] * len(listener.pulled)


def test_after_a_broken_line_one_listens_again(
    dovecot, source, folder, listener, line, monkeypatch
):
    monkeypatch.setattr("filters.sources.pull.listening.pause_after", lambda *_args, **_named: 0.1)
    line.hang_up()
    dovecot.put(folder, mail(1))
    before = len(listener.pulled)
    wait_for(lambda: len(listener.pulled) > before, listener.turn)


def test_a_paused_source_is_not_listened_to(source, listener):
    Source.objects.update(active=False)
    wait_for(lambda: not listener.watchers, listener.turn)
    Source.objects.update(active=True)
    before = len(listener.pulled)
    wait_for(lambda: len(listener.pulled) > before, listener.turn)


def test_another_password_is_a_line_of_its_own(source, listener):
    (watcher,) = listener.watchers.values()
    keep_secret(source, "wrong")
    source.save()
    wait_for(lambda: watcher not in listener.watchers.values(), listener.turn)
    wait_for(lambda: all(each.failures for each in listener.watchers.values()), listener.turn)


def test_whatever_goes_wrong_with_one_source_the_others_are_listened_to(
    source, monkeypatch, set_asides
):
    errors = set_asides.expect()
    other = Source.objects.get(pk=source.pk)
    other.pk = None
    other.save()
    slow = threading.Event()

    def fails(given):
        if given.pk == other.pk:
            slow.wait(SOON)
            raise RecursionError
        return account_of(given)

    monkeypatch.setattr("filters.sources.pull.listening.account_of", fails)
    pulled = []
    made = Listener(pulled.append)
    wait_for(lambda: pulled, made.turn)
    assert set(pulled) == {source.pk}
    begun = time.monotonic()
    slow.set()
    (watcher,) = (watcher for (pk, _folder), watcher in made.watchers.items() if pk == other.pk)
    wait_for(lambda: watcher.failures and not watcher.thread.is_alive(), made.turn)
    assert begun + 1 < watcher.not_before < time.monotonic() + 10
    assert [key for _, key, _ in errors] == [f"{other.pk}/listening"]
    made.stop()
