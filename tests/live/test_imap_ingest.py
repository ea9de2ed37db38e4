"""Pulling from a real IMAP server: once, going on, and every way it can refuse."""

from __future__ import annotations

import socket
from datetime import datetime, timedelta, timezone

import pytest

from tapestry.core.clock import to_instant
from tapestry.core.errors import TapestryError
from tapestry.ingest.parse import TOO_LARGE
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies, message
from tapestry.tables.read.originals import Original, original
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest
from tests.support.servers.dovecot import PASSWORD

pytestmark = pytest.mark.live

PUBLIC = ("public",)


@pytest.fixture
def folder(request):
    return request.node.name.partition("[")[0]


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


@pytest.fixture
def clock():
    return MemoryClock()


@pytest.fixture(autouse=True)
def no_password(monkeypatch):
    monkeypatch.delenv("TAPESTRY_IMAP_PASSWORD", raising=False)


def mail(n):
    head = f"Message-ID: <{n}@x.org>\r\nFrom: Joe <joe@x.org>\r\nSubject: number {n}\r\n"
    return f"{head}\r\nHello\r\n".encode()


def counts(report):
    return report.read, report.added, report.duplicates


def test_a_mailbox_is_taken_in_once(dovecot, tables, clock, folder):
    dovecot.put(folder, *map(mail, range(5)))
    url = dovecot.url(folder)
    seen = []
    report = ingest(url, tables, clock, progress=lambda done, total: seen.append((done, total)))
    assert (counts(report), seen) == ((5, 5, 0), [(5, 5)])
    assert counts(ingest(url, tables, clock)) == (0, 0, 0)
    row = message(tables, "3@x.org", PUBLIC)
    assert (row.message.subject, row.message.body) == ("number 3", "Hello\n")
    assert row.message.source == f"imap://alice%40x.org@127.0.0.1:{dovecot.port}/{folder}"


def test_the_mailbox_is_left_as_it_was(dovecot, tables, clock, folder):
    dovecot.put(folder, mail(1))
    ingest(dovecot.url(folder), tables, clock)
    with dovecot.session() as client:
        client.select_folder(folder, readonly=True)
        assert client.search("UNSEEN") == [1]


def test_new_mail_goes_on_from_the_cursor(dovecot, tables, clock, folder):
    url = dovecot.url(folder)
    dovecot.put(folder, mail(1), mail(2))
    ingest(url, tables, clock)
    dovecot.put(folder, mail(3))
    assert counts(ingest(url, tables, clock)) == (1, 1, 0)


def test_an_expunged_message_does_not_disturb_the_cursor(dovecot, tables, clock, folder):
    url = dovecot.url(folder)
    dovecot.put(folder, *map(mail, range(4)))
    ingest(url, tables, clock)
    with dovecot.session() as client:
        client.select_folder(folder)
        client.delete_messages([3, 4])
        client.expunge()
    assert counts(ingest(url, tables, clock)) == (0, 0, 0)
    dovecot.put(folder, mail(9))
    assert counts(ingest(url, tables, clock)) == (1, 1, 0)


def test_an_interrupted_pull_goes_on_from_its_last_batch(
    dovecot, tables, clock, folder, monkeypatch
):
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 3)
    url = dovecot.url(folder)
    dovecot.put(folder, *map(mail, range(10)))

    def stop(done, _total):
        if done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(url, tables, clock, progress=stop)
    assert counts(ingest(url, tables, clock)) == (4, 4, 0)


def test_a_new_uidvalidity_reads_all_again_and_adds_what_is_new(dovecot, tables, clock, folder):
    url = dovecot.url(folder)
    dovecot.put(folder, mail(1), mail(2))
    ingest(url, tables, clock)
    with dovecot.session() as client:
        before = client.folder_status(folder, ["UIDVALIDITY"])
        client.delete_folder(folder)
        client.create_folder(folder)
        if client.folder_status(folder, ["UIDVALIDITY"]) == before:
            pytest.fail("the server kept the UIDVALIDITY")
    dovecot.put(folder, mail(1), mail(3))
    assert counts(ingest(url, tables, clock)) == (2, 1, 1)
    assert counts(ingest(url, tables, clock)) == (0, 0, 0)


def test_an_empty_mailbox_is_no_error(dovecot, tables, clock, folder):
    dovecot.put(folder)
    assert counts(ingest(dovecot.url(folder), tables, clock)) == (0, 0, 0)


def test_mailbox_names_may_hold_anything(dovecot, tables, clock):
    dovecot.put("Größe & Maß", mail("umlaut"))
    url = dovecot.url("Gr%C3%B6%C3%9Fe%20%26%20Ma%C3%9F")
    assert counts(ingest(url, tables, clock)) == (1, 1, 0)


def test_a_large_mailbox_comes_in_several_fetches(dovecot, tables, clock, folder):
    dovecot.put(folder, *map(mail, range(250)))
    assert counts(ingest(dovecot.url(folder), tables, clock)) == (250, 250, 0)


def test_the_password_may_come_from_the_environment_or_be_asked(
    dovecot, tables, clock, folder, monkeypatch
):
    dovecot.put(folder, mail(1))
    url = dovecot.url(folder, password=None)
    asked = []

    def ask(address):
        asked.append(address)
        return PASSWORD

    assert ingest(url, tables, clock, ask_password=ask).added == 1
    assert asked == [f"imap://alice%40x.org@127.0.0.1:{dovecot.port}/{folder}"]
    monkeypatch.setenv("TAPESTRY_IMAP_PASSWORD", PASSWORD)
    assert ingest(url, tables, clock).read == 0
    monkeypatch.delenv("TAPESTRY_IMAP_PASSWORD")
    with pytest.raises(TapestryError, match="No password is given"):
        ingest(url, tables, clock)


def test_a_wrong_password_is_one_sentence(dovecot, tables, clock):
    with pytest.raises(TapestryError, match="refused the user name or password") as caught:
        ingest(dovecot.url(password="guess"), tables, clock)
    assert "guess" not in caught.value.render()


def test_an_unknown_mailbox_is_one_sentence(dovecot, tables, clock):
    with pytest.raises(TapestryError, match="has no mailbox Nowhere") as caught:
        ingest(dovecot.url("Nowhere"), tables, clock)
    assert "INBOX" in caught.value.hint


def test_a_port_where_nothing_listens_is_one_sentence(tables, clock):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]  # kept, so that nobody else listens there
        with pytest.raises(TapestryError, match="cannot be reached: Connection refused"):
            ingest(f"imap://a:b@127.0.0.1:{port}/INBOX", tables, clock)


def test_a_host_that_is_not_there_is_one_sentence(tables, clock):
    with pytest.raises(TapestryError, match="cannot be reached"):
        ingest("imap://a:b@nowhere.invalid/INBOX", tables, clock)


def test_tls_with_a_server_that_has_none_is_one_sentence(dovecot, tables, clock):
    url = dovecot.url().replace("imap://", "imaps://")
    with pytest.raises(TapestryError, match="does not speak TLS"):
        ingest(url, tables, clock)


@pytest.mark.parametrize("url", ["imap://", "imap://host/INBOX", "imap://a@host:port/INBOX"])
def test_a_url_without_user_or_host_is_one_sentence(tables, clock, url):
    with pytest.raises(TapestryError, match="not the URL of an IMAP mailbox"):
        ingest(url, tables, clock)


def test_a_message_was_received_when_the_server_received_it(dovecot, tables, clock, folder):
    at = datetime(2004, 1, 2, 12, 30, tzinfo=timezone(timedelta(hours=5)))
    with dovecot.session() as client:
        client.create_folder(folder)
        client.append(folder, mail(1), msg_time=at)
    ingest(dovecot.url(folder), tables, clock)
    row = message(tables, "1@x.org", PUBLIC)
    assert row.message.received == to_instant(at)


def test_a_message_too_large_comes_in_by_its_beginning(dovecot, tables, clock, folder):
    large = (
        b"Message-ID: <large@x.org>\r\nFrom: joe@x.org\r\n\r\n" + (b"A" * 76 + b"\r\n") * 1_800_000
    )
    dovecot.put(folder, mail(1), large, mail(2))
    assert counts(ingest(dovecot.url(folder), tables, clock)) == (3, 3, 0)
    (copy,) = copies(tables, "large@x.org", PUBLIC)
    kept = message(tables, "large@x.org", PUBLIC).message
    assert (kept.sender, kept.size) == ("joe@x.org", len(large))
    assert original(tables, "large@x.org", copy) == Original(b"", (TOO_LARGE,))
    assert message(tables, "2@x.org", PUBLIC).message.body == "Hello\n"


def test_a_server_that_sends_more_than_it_says_is_cut_off(
    dovecot, tables, clock, folder, monkeypatch
):
    dovecot.put(folder, mail(1), mail(2).ljust(3000, b"x"), mail(3))
    monkeypatch.setattr("tapestry.servers.imap.LARGEST_LITERAL", 2000)
    monkeypatch.setattr("tapestry.ingest.pull.FIRST_PAUSE", 0.01)
    with pytest.raises(TapestryError, match="1 could not be had"):
        ingest(dovecot.url(folder), tables, clock)
    assert message(tables, "3@x.org", PUBLIC).message.body == "Hello\n"
