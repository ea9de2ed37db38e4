"""The outbox: sent once, undone in time, tried again, and a message of its conversation."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from filters.compose import tasks
from filters.compose.drafting.drafts import ChangedElsewhereError
from filters.compose.models import OutgoingMessage
from filters.compose.sending import limits, outbox, steps, storing
from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from tapestry.compose.transmission import Transmission
from tapestry.core.clock import DAY, HOUR, SECOND, wall_clock
from tapestry.servers.account import ConnectionLostError, RefusedError
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies
from tapestry.tables.read.thread import thread
from tests.support.delivery.composed import MINE, answer, put, rows_of, send_due, typed
from tests.support.faults.set_asides import Planted
from tests.support.servers.smtp import SmtpServer
from tests.support.set_clock import SetClock


@pytest.fixture
def filed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The keys of what was filed, as if alice had a mailbox."""
    keys: list[int] = []

    def file(row: OutgoingMessage, _: int) -> str:
        keys.append(row.pk)
        return "Sent of alice"

    monkeypatch.setattr(steps, "file", file)
    return keys


def test_a_reply_is_sent_and_is_in_the_conversation(
    browser: Client, letter: str, tables: Tables, smtp: SmtpServer
) -> None:
    row = answer(browser, letter, bcc="hidden@x.org", cc="bill@x.org")
    page = browser.get(row.get_absolute_url()).content.decode()
    assert "Sending in 10 seconds" in page and 'id="undo"' in page
    assert outbox.due() == [] and not outbox.send(row.pk)
    send_due()
    row.refresh_from_db()
    assert (row.state, row.due_at, row.raw, row.pending) == ("sent", None, None, [])
    (message,) = smtp.messages
    assert sorted(smtp.recipients) == ["bill@x.org", "hidden@x.org", "office@x.org"]
    assert message["From"] == "alice <alice@example.org>" and message["To"] == "office@x.org"
    assert message["In-Reply-To"] == "<letter@x.org>"
    assert message["References"] == "<root@x.org> <letter@x.org>"
    assert b"hidden@x.org" not in smtp.taken[0] and "X-Tapestry-Delivery" not in message
    entries = thread(tables, letter, MINE)
    assert [entry.card.msgid for entry in entries] == [letter, row.message_id]
    stored = next(found for found in rows_of(tables) if found["msgid"] == row.message_id)
    assert (stored["audience"], stored["sender"]) == ("user:alice", "alice@example.org")
    shown = browser.get(f"{row.get_absolute_url()}state/").content.decode()
    assert "Show it in the conversation" in shown and "every 1s" not in shown
    page = browser.get("/message/", {"id": row.message_id}).content.decode()
    assert "At noon?" in page and "Came from" not in page


@pytest.mark.parametrize("came_back", ["as it was", "by a list", "as a duplicate of others"])
def test_the_copy_that_comes_back_is_the_same_message(
    browser: Client, letter: str, tables: Tables, smtp: SmtpServer, came_back: str
) -> None:
    file = SimpleUploadedFile("a.bin", bytes(range(256)))
    row = answer(
        browser, letter, body="Grüße " * 100, files=[] if came_back == "by a list" else [file]
    )
    send_due()
    raw = smtp.taken[0].replace(b"\r\n", b"\n")
    before = len(rows_of(tables))
    if came_back == "by a list":
        footer = b"____\nplans mailing list\nplans@lists.x.org\n"
        raw = b"Received: by x.org; now\n" + raw.replace(b"Subject: Re:", b"Subject: [plans] Re:")
        raw += footer
    row.refresh_from_db()
    assert put(tables, raw) == row.message_id
    assert len(rows_of(tables)) == before
    put(tables, raw, "public")  # another audience has a copy of its own
    assert len(copies(tables, row.message_id, MINE)) == 2


def test_an_answer_to_a_message_without_an_id_is_in_its_conversation(
    browser: Client, tables: Tables, smtp: SmtpServer
) -> None:
    parent = put(tables, b"From: mary@x.org\nSubject: no id\n\nHello\n")
    row = answer(browser, parent)
    send_due()
    row.refresh_from_db()
    assert "In-Reply-To" not in smtp.messages[0]
    assert [e.card.msgid for e in thread(tables, parent, MINE)] == [parent, row.message_id]
    put(tables, smtp.taken[0])
    assert len(rows_of(tables)) == 2


def test_what_was_sent_off_can_be_undone(browser: Client, letter: str, smtp: SmtpServer) -> None:
    row = answer(browser, letter)
    first = OutgoingMessage.objects.get(pk=row.pk)
    assert browser.post(f"{row.get_absolute_url()}undo/").status_code == 302
    row.refresh_from_db()
    assert (row.state, row.due_at, row.raw) == ("draft", None, None)
    send_due()
    assert smtp.taken == [] and "At noon?" in browser.get(row.get_absolute_url()).content.decode()
    form = typed(uid=str(row.uid), editor=row.editor, version=row.version, body="At one?")
    browser.post("/compose/", form)
    send_due()
    assert len(smtp.taken) == 1 and first.message_id.encode() not in smtp.taken[0]
    late = browser.post(f"{row.get_absolute_url()}undo/", follow=True).content.decode()
    assert "It is too late" in late


def test_pressing_send_twice_sends_once(browser: Client, smtp: SmtpServer) -> None:
    form = typed()
    for _ in range(2):
        assert browser.post("/compose/", form).status_code == 302
    saved = browser.post("/compose/save/", form | {"body": "later"}, headers={"HX-Request": "true"})
    assert saved.status_code == 409
    send_due()
    send_due()
    assert len(smtp.taken) == 1 and b"At noon?" in smtp.taken[0]


def test_the_copy_is_filed_once_anybody_has_it(
    browser: Client, smtp: SmtpServer, filed: list[int]
) -> None:
    smtp.rcpt_of = {"b@x.org": "451 later"}
    browser.post("/compose/", typed(to="a@x.org, b@x.org"))
    send_due()
    row = OutgoingMessage.objects.get()
    assert (row.state, row.filed_in, filed) == ("queued", "Sent of alice", [row.pk])
    OutgoingMessage.objects.update(due_at=wall_clock() + 60 * SECOND)
    page = browser.get(row.get_absolute_url()).content.decode()
    assert "Not delivered to everybody yet: The mail server said: 451 later<br>Next try at" in page
    OutgoingMessage.objects.update(failures=9, failing_since=wall_clock() - 4 * DAY)
    send_due()
    row.refresh_from_db()
    assert (row.state, list(row.refused), row.due_at) == ("sent", ["b@x.org"], None)
    smtp.rcpt_of = {}
    browser.post(f"{row.get_absolute_url()}again/")
    send_due()
    row.refresh_from_db()
    assert (row.state, row.refused, smtp.recipients) == ("sent", {}, ["a@x.org", "b@x.org"])
    assert filed == [row.pk]


def test_filing_goes_on_when_a_recipient_is_given_up(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> str:
        raise ConnectionLostError("imap.x.org does not answer.")

    smtp.rcpt_of = {"b@x.org": "451 later"}
    browser.post("/compose/", typed(to="a@x.org, b@x.org"))
    with monkeypatch.context() as patched:
        patched.setattr(steps, "file", away)
        send_due()
        OutgoingMessage.objects.update(failures=9, failing_since=wall_clock() - 4 * DAY)
        send_due()
    row = OutgoingMessage.objects.get()
    assert (row.state, list(row.refused), row.filed_at) == ("sent", ["b@x.org"], None)
    assert row.due_at is not None
    monkeypatch.setattr(steps, "file", lambda *_: "Sent of alice")
    send_due()
    row.refresh_from_db()
    assert (row.filed_in, row.due_at, len(smtp.taken)) == ("Sent of alice", None, 1)


def test_a_mailbox_that_is_away_holds_up_nothing(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.post("/compose/", typed())

    def away(*_: Any) -> str:
        raise ConnectionLostError("imap.x.org does not answer.")

    monkeypatch.setattr(steps, "file", away)
    send_due()
    row = OutgoingMessage.objects.get()
    assert row.state == "sent" and row.stored_at and not row.filed_at and row.due_at
    page = browser.get(row.get_absolute_url()).content.decode()
    assert "could not be put into your Sent folder: imap.x.org does not answer." in page

    def refuse(*_: Any) -> str:
        raise RefusedError("imap.x.org does not take it.")

    monkeypatch.setattr(steps, "file", refuse)
    send_due()
    row.refresh_from_db()
    assert row.due_at is None and row.filed_at and len(smtp.taken) == 1


def test_nothing_is_stored_for_somebody_who_is_gone(
    browser: Client, writer: User, smtp: SmtpServer, tables: Tables
) -> None:
    browser.post("/compose/", typed())
    row = OutgoingMessage.objects.select_related("owner").get()
    writer.delete()
    storing.store(row, wall_clock())
    assert not list(tables.root.rglob("*.parquet"))


def test_a_person_may_send_so_many_an_hour(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HOUR", type(limits.HOUR)(2, 1, "compose"))
    for _ in range(2):
        assert browser.post("/compose/", typed()).status_code == 302
    page = browser.post("/compose/", typed(body="Not lost"))
    text = page.content.decode()
    assert page.status_code == 400 and "You have reached the limit of 30 messages an hour." in text
    assert "Not lost" in text and OutgoingMessage.objects.filter(state="queued").count() == 2
    refused = OutgoingMessage.objects.filter(state="queued").first()
    OutgoingMessage.objects.filter(pk=refused.pk).update(state="refused", due_at=None)
    tried = browser.post(f"{refused.get_absolute_url()}again/", follow=True)
    assert "You have reached the limit of" in tried.content.decode()
    refused.refresh_from_db()
    assert refused.state == "refused", "to try again counts, too"


def test_an_address_that_is_no_longer_confirmed_sends_nothing_new(
    browser: Client, writer: User
) -> None:
    writer.mail_addresses.update(confirmed_at=None)
    assert browser.post("/compose/", typed()).status_code == 400


def test_an_address_of_a_domain_beyond_ascii(
    browser: Client, writer: User, smtp: SmtpServer
) -> None:
    writer.mail_addresses.update(email="alice@bücher.example")
    browser.post("/compose/", typed(sender="alice@bücher.example", to="joe@müller.example"))
    send_due()
    assert smtp.recipients == ["joe@xn--mller-kva.example"]
    assert smtp.messages[0]["From"] == "alice <alice@xn--bcher-kva.example>"


def test_the_clock_sends_what_is_due(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.post("/compose/", typed())
    asked: list[Any] = []
    monkeypatch.setattr(tasks.send_message, "apply_async", lambda args, **_: asked.append(args))
    tasks.send_outbox()
    assert asked == []
    OutgoingMessage.objects.update(due_at=1)
    tasks.send_outbox()
    (key,) = asked
    tasks.send_message(*key)
    assert len(smtp.taken) == 1


def test_a_slow_server_of_one_person_takes_few_workers(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        browser.post("/compose/", typed())
    OutgoingMessage.objects.update(due_at=1)
    keys = list(OutgoingMessage.objects.order_by("pk").values_list("pk", flat=True))
    depths: list[int] = []

    def slow(*_: Any) -> Transmission:
        depths.append(OutgoingMessage.objects.exclude(holder="").count())
        for key in [*outbox.due(), *keys]:  # what the other threads of the worker are asked for
            outbox.send(key)
        return Transmission(error="It is slow.")

    monkeypatch.setattr(steps, "send_mail", slow)
    outbox.send(keys[0])
    assert max(depths) == outbox.MOST_OF_ONE and len(depths) == len(keys)


def test_what_is_deleted_as_it_is_sent_off_is_not_sent(browser: Client) -> None:
    browser.post("/compose/", typed())
    OutgoingMessage.objects.update(state="refused", unanswered_at=1)
    row = OutgoingMessage.objects.defer("raw").get()
    OutgoingMessage.objects.all().delete()
    assert not outbox.send_again(row)
    with pytest.raises(ChangedElsewhereError):
        outbox.queue(row)


def test_a_letter_does_not_wait_for_a_clock_that_was_set_back(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SetClock(wall_clock() + 5 * HOUR, monkeypatch)
    browser.post("/compose/", typed())
    assert outbox.due() == []
    clock.now -= 5 * HOUR
    [key] = outbox.due()
    monkeypatch.setattr(steps, "send_mail", lambda *_: Transmission(error="It is busy."))
    assert outbox.send(key) and outbox.due() == [], "it is put off from now"
    left = OutgoingMessage.objects.get().due_at or 0
    assert clock.now < left <= clock.now + 30 * SECOND


def test_old_rows_leave_the_list_and_drafts_stay(browser: Client, smtp: SmtpServer) -> None:
    browser.post("/compose/", typed())
    browser.post("/compose/", typed(do="save"))
    send_due()
    OutgoingMessage.objects.update(changed_at=wall_clock() - 31 * DAY)
    assert outbox.prune(wall_clock()) == 1 and OutgoingMessage.objects.get().is_draft


def test_a_letter_over_which_an_error_is_raised_is_said_and_sent_later(
    browser: Client, smtp: SmtpServer, tables: Tables, monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
) -> None:  # fmt: skip
    """Each step that is done stays done: nobody gets it twice."""
    errors = set_asides.expect()
    browser.post("/compose/", typed())
    OutgoingMessage.objects.update(due_at=1)
    row = OutgoingMessage.objects.get()
    with monkeypatch.context() as broken:
        broken.setattr(steps, "store", lambda *_: {}["nobody foresaw this"])
        tasks.send_message(row.pk)
        row.refresh_from_db()
        assert row.sent_at and row.stored_at is None and outbox.due() == []
        tasks.send_message(row.pk)
    aside = SetAside.objects.get()
    assert (aside.kind, aside.attempts, len(errors)) == ("message", 1, 1)
    page = browser.get(f"{row.get_absolute_url()}state/").content.decode()
    assert aside.reason in page and "Next try at" in page
    set_aside.try_now()
    assert outbox.due() == [row.pk]
    tasks.send_message(row.pk)
    row.refresh_from_db()
    assert (row.state, row.error, row.due_at) == ("sent", "", None)
    assert len(smtp.taken) == 1 and len(rows_of(tables)) == 1
    assert not SetAside.objects.exists()
