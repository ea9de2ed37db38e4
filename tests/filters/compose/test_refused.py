"""What a mail server refuses, now or for ever, and what is tried again."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from filters.compose import servers
from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox, steps
from filters.people.models import User
from tapestry.compose.transmission import Transmission
from tapestry.core.clock import DAY, SECOND, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.delivery.composed import send_due, typed
from tests.support.servers.smtp import SmtpServer


def test_a_refusal_is_shown_and_tried_again(
    browser: Client, smtp: SmtpServer, tables: Tables
) -> None:
    smtp.data = "554 5.7.1 <b>No spam</b>"
    browser.post("/compose/", typed())
    send_due()
    row = OutgoingMessage.objects.get()
    page = browser.get(row.get_absolute_url()).content.decode()
    assert row.state == "refused" and "554 5.7.1 &lt;b&gt;No spam&lt;/b&gt;" in page
    assert "Try again" in page and "not sent" in browser.get("/drafts/").content.decode()
    assert not (tables.root / "messages").exists()
    smtp.data = ""
    browser.post(f"{row.get_absolute_url()}again/")
    send_due()
    row.refresh_from_db()
    assert row.state == "sent" and row.message_id in smtp.messages[0]["Message-ID"]
    assert browser.post(f"{row.get_absolute_url()}again/").status_code == 302
    send_due()
    assert len(smtp.taken) == 1


def test_a_refused_message_is_edited(browser: Client, smtp: SmtpServer) -> None:
    smtp.data = "552 too large"
    browser.post("/compose/", typed())
    send_due()
    row = OutgoingMessage.objects.get()
    browser.post(f"{row.get_absolute_url()}undo/")
    row.refresh_from_db()
    assert row.is_draft


def test_refused_recipients_are_named_and_tried_alone(
    browser: Client, monkeypatch: pytest.MonkeyPatch, smtp: SmtpServer
) -> None:
    tried: list[list[str]] = []
    send_mail = servers.send_mail

    def refuse_eve(owner: User, sender: str, recipients: list[str], raw: bytes) -> Transmission:
        tried.append(list(recipients))
        others = [address for address in recipients if address != "eve@x.org"]
        sent = send_mail(owner, sender, others, raw) if others else Transmission()
        gone = {"eve@x.org": "The mail server said: 550 no such user"}
        return Transmission(sent.accepted, gone)

    monkeypatch.setattr(steps, "send_mail", refuse_eve)
    browser.post("/compose/", typed(to="mary@x.org, eve@x.org"))
    send_due()
    row = OutgoingMessage.objects.get()
    page = browser.get(row.get_absolute_url()).content.decode()
    assert row.state == "sent" and "Not everybody got it" in page and "550 no such user" in page
    browser.post(f"{row.get_absolute_url()}again/")
    send_due()
    assert tried == [["mary@x.org", "eve@x.org"], ["eve@x.org"]] and len(smtp.taken) == 1
    row.refresh_from_db()
    assert row.state == "sent" and list(row.refused) == ["eve@x.org"]


def test_what_may_pass_is_tried_later_and_given_up_after_three_days(
    browser: Client, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    smtp.data = "451 busy"
    browser.post("/compose/", typed())
    send_due()
    row = OutgoingMessage.objects.get()
    assert (row.state, row.failures) == ("queued", 1) and row.due_at is not None
    OutgoingMessage.objects.update(due_at=wall_clock() + 60 * SECOND)
    page = browser.get(row.get_absolute_url()).content.decode()
    assert "Not sent yet: The mail server said: 451 busy" in page and "Stop and edit" in page
    OutgoingMessage.objects.update(failures=9, failing_since=wall_clock() - 4 * DAY)
    send_due()
    row.refresh_from_db()
    assert row.state == "refused" and row.due_at is None


def test_everybody_gets_what_a_server_began_to_take_as_it_was_shut_down(
    browser: Client, smtp: SmtpServer
) -> None:
    smtp.rcpt_of = {"b@x.org": "421 4.3.2 shutting down"}
    browser.post("/compose/", typed(to="a@x.org, b@x.org, c@x.org"))
    send_due()
    row = OutgoingMessage.objects.get()
    assert row.state == "queued" and row.pending == ["a@x.org", "b@x.org", "c@x.org"]
    smtp.rcpt_of = {}
    send_due()
    row.refresh_from_db()
    assert row.state == "sent" and smtp.recipients == ["a@x.org", "b@x.org", "c@x.org"]


@pytest.mark.parametrize(
    ("edited", "is_same"),
    [
        ({}, True),
        ({"to": "joe@x.org"}, True),
        ({"body": "At noon!"}, False),
        ({"subject": "Dinner"}, False),
    ],
)
@pytest.mark.parametrize("files", [0, 1])
def test_what_a_server_may_have_taken_keeps_its_message_id_until_it_is_changed(
    browser: Client, smtp: SmtpServer, edited: dict[str, str], is_same: bool, files: int
) -> None:
    smtp.after_data = "cut"
    form = typed()
    attached = [SimpleUploadedFile("a.bin", bytes(range(256)))] * files
    browser.post("/compose/", form | {"files": attached})
    send_due()
    row = OutgoingMessage.objects.get()
    OutgoingMessage.objects.update(due_at=wall_clock() + 60 * SECOND)
    page = browser.get(row.get_absolute_url()).content.decode()
    assert "This may have been sent already: The mail server broke off" in page
    assert "Not sent yet" not in page
    browser.post(f"{row.get_absolute_url()}undo/")
    assert 'id="unanswered"' in browser.get(row.get_absolute_url()).content.decode()
    browser.post("/compose/save/", form | {"body": "Wait"}, headers={"HX-Request": "true"})
    smtp.after_data = ""
    browser.post("/compose/", form | edited)
    send_due()
    first, second = smtp.messages
    assert (first["Message-ID"] == second["Message-ID"]) == is_same
    row.refresh_from_db()
    assert (row.state, row.unanswered_at) == ("sent", None)


def test_what_was_refused_later_may_have_been_sent_before(
    browser: Client, smtp: SmtpServer
) -> None:
    smtp.after_data = "cut"
    browser.post("/compose/", typed())
    send_due()
    smtp.data = "554 no"
    send_due()
    row = OutgoingMessage.objects.get()
    page = browser.get(row.get_absolute_url()).content.decode()
    assert row.state == "refused" and "This may have been sent" in page and "Not sent" not in page
    assert "may have been sent" in browser.get("/drafts/").content.decode()


def test_who_has_got_it_since_the_page_was_read_is_not_tried_again(browser: Client) -> None:
    browser.post("/compose/", typed(to="a@x.org, b@x.org, c@x.org"))
    later, refused = ["a@x.org", "b@x.org"], {"c@x.org": "550 no such user"}
    OutgoingMessage.objects.update(pending=later, refused=refused)
    read = OutgoingMessage.objects.get()
    OutgoingMessage.objects.update(pending=["b@x.org"])  # a process is faster
    assert not outbox.send_again(read)
    row = OutgoingMessage.objects.get()
    assert row.pending == ["b@x.org"] and outbox.send_again(row)
    row.refresh_from_db()
    assert (row.pending, row.refused) == (["b@x.org", "c@x.org"], {})
