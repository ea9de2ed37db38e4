"""Digests and forwarded messages, over a real SMTP server that fails in every way it may."""

from __future__ import annotations

import smtplib
from typing import Any

import pytest
from django.core.mail import EmailMessage

from filters.authoring.models import Filter
from filters.delivery.mail import outgoing
from filters.delivery.models import Address, Delivery, Destination, KeptMail
from filters.delivery.ways import digest as by_digest
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import wall_clock
from tapestry.core.delivery_header import DELIVERY_HEADER
from tapestry.core.message import Annotation, Message
from tapestry.deliver.batch import Outcome
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.delivery.recorded_way import MakeDestination, Store
from tests.support.delivery.turn import turn_of_mail
from tests.support.faults.set_asides import Planted
from tests.support.servers.smtp import SmtpServer


def test_a_digest_is_one_mail_for_all_that_was_released(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination
) -> None:
    destination = to_alice("digest")
    for number in range(3):
        store(jones, f"m{number}")
    turn_of_mail()
    turn_of_mail()
    [message] = smtp.messages
    assert smtp.recipients == ["al@example.org"]
    assert message["To"] == "alice <al@example.org>"
    assert message[DELIVERY_HEADER]
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    body = message.get_body(("plain",))
    assert body is not None
    assert all(f"About m{number}" in body.get_content() for number in range(3))
    assert Delivery.objects.get().matches == 3
    destination.refresh_from_db()
    assert (destination.error, destination.due_at) == ("", None)


def test_a_digest_has_the_first_words_of_what_its_reader_sees(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination, tables: Tables
) -> None:
    bodies = {"public": "> Lunch?\n\nAt <b>noon</b>\n& not later.", "user:bob": "Hush"}
    for audience, body in bodies.items():
        message = Message("m", body=body, audience=audience)
        append_messages(tables, DjangoClock(), [message])
    to_alice("digest")
    store(jones, "m")
    turn_of_mail()
    text, html = (smtp.messages[0].get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None and "\r\n  At <b>noon</b> & not later.\r\n" in text.get_content()
    assert html is not None and "At &lt;b&gt;noon&lt;/b&gt; &amp; not later." in html.get_content()
    assert "Hush" not in text.get_content() + html.get_content()


def test_a_digest_begins_with_what_was_voted_for(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination, tables: Tables
) -> None:
    votes = [
        Annotation("1", "m1", "bob", "vote", number=1.0),
        Annotation("2", "m1", "carol", "vote", number=1.0),
        Annotation("3", "m2", "bob", "vote", number=1.0, audience="user:bob"),
    ]
    append_annotations(tables, DjangoClock(), votes)
    to_alice("digest")
    for number in range(3):
        store(jones, f"m{number}", received=number)
    turn_of_mail()
    body = smtp.messages[0].get_body(("plain",))
    assert body is not None
    text = body.get_content()
    assert text.index("About m1") < text.index("About m2") < text.index("About m0")
    assert "+2 votes" in text and "+1 vote" not in text, "the vote on m2 is bob's alone"


@pytest.mark.parametrize(
    ("fault", "value"),
    [("rcpt", "450 busy"), ("data", "451 later"), ("after_data", "cut"), ("after_data", "hang")],
)
def test_what_may_pass_is_tried_again_under_the_same_message_id(
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    settings: Any,
    fault: str,
    value: str,
) -> None:
    if value == "hang":
        settings.EMAIL_TIMEOUT = 2
    destination = to_alice("digest")
    store(jones, "m")
    setattr(smtp, fault, value)
    turn_of_mail()
    destination.refresh_from_db()
    assert destination.error
    assert destination.due_at is not None and destination.due_at > wall_clock()
    setattr(smtp, fault, "")
    store(jones, "later")
    turn_of_mail()
    names = [message["Message-ID"] for message in smtp.messages]
    assert len(set(names)) == 2, "one for what was claimed, one for what came later"
    assert len(names) == (3 if fault == "after_data" else 2)
    assert names[0] == names[-2]


def test_a_refused_recipient_stops_the_mail_and_says_why(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination
) -> None:
    to_alice("digest")
    store(jones, "m")
    smtp.rcpt = "550 no such user"
    turn_of_mail()
    assert "550 no such user" in Address.objects.get().problem
    smtp.rcpt = ""
    turn_of_mail()
    assert smtp.messages == []
    Address.objects.update(problem="")
    turn_of_mail()
    assert len(smtp.messages) == 1


@pytest.mark.parametrize("command", ["rcpt", "data"])
def test_after_421_the_next_mail_has_a_connection_of_its_own(
    smtp: SmtpServer, command: str
) -> None:
    mail = EmailMessage("Hi", "x", "site@x.org", ["al@example.org"])
    with outgoing.kept_connection():
        setattr(smtp, command, "421 4.3.2 shutting down")
        assert outgoing.send(mail, "al@example.org").state == "retry"
        setattr(smtp, command, "")
        assert outgoing.send(mail, "al@example.org").state == "delivered"
    assert len(smtp.taken) == 1


def test_a_refused_digest_is_replaced_by_a_note(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination
) -> None:
    destination = to_alice("digest")
    store(jones, "m")
    real_send = outgoing.send
    refusals = ["554 looks like spam"]

    def refuse_once(*arguments: object) -> object:
        smtp.data = refusals.pop() if refusals else ""
        return real_send(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outgoing, "send", refuse_once)
        turn_of_mail()
    [note] = smtp.messages
    body = note.get_body(("plain",))
    assert body is not None
    assert "554 looks like spam" in body.get_content()
    assert "About m" not in body.get_content()
    destination.refresh_from_db()
    assert destination.cursor == destination.latest


def test_a_message_is_sent_again_as_it_came(
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    kept_original: bytes,
) -> None:
    to_alice("forward")
    store(jones, "<one@x.org>")
    turn_of_mail()
    [raw] = smtp.taken
    assert raw.endswith(kept_original)
    [message] = smtp.messages
    assert "al@example.org" in message["Resent-To"]
    assert message["Message-ID"] == "<one@x.org>"
    assert message[DELIVERY_HEADER]


def test_a_message_is_attached_where_that_is_chosen(
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    kept_original: bytes,
) -> None:
    to_alice("forward", style="attached")
    store(jones, "<one@x.org>")
    turn_of_mail()
    [message] = smtp.messages
    assert message["Subject"].startswith("New in jones")
    assert kept_original in smtp.taken[0]


def test_without_a_mail_server_mail_is_kept_for_its_reader(
    jones: Filter, store: Store, settings: object, to_alice: MakeDestination
) -> None:
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    to_alice("digest")
    store(jones, "m")
    turn_of_mail()
    kept = KeptMail.objects.get()
    assert (kept.owner, kept.recipient) == (jones.owner, "al@example.org")
    assert "About m" in kept.subject
    assert not Match.objects.filter(sequence=None).exists()


@pytest.mark.usefixtures("kept_original")
def test_a_refused_recipient_loses_no_message(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination
) -> None:
    to_alice("forward")
    store(jones, "<one@x.org>")
    smtp.rcpt = "550 no such user"
    turn_of_mail()
    assert "550 no such user" in Address.objects.get().problem
    smtp.rcpt = ""
    Address.objects.update(problem="")
    turn_of_mail()
    assert [message["Message-ID"] for message in smtp.messages] == ["<one@x.org>"]


@pytest.mark.usefixtures("kept_original")
def test_a_message_that_is_refused_is_told_of_and_the_address_stays(
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    to_alice("forward")
    store(jones, "<one@x.org>")
    real_send, sent = outgoing.send, list[str]()

    def refuse_the_original(message: Any, recipient: str) -> Outcome:
        smtp.data = "" if sent else "552 5.3.4 too big"
        sent.append(message.key)
        return real_send(message, recipient)

    monkeypatch.setattr(outgoing, "send", refuse_the_original)
    turn_of_mail()
    [note] = smtp.messages
    body = note.get_body(("plain",))
    assert body is not None
    assert "552 5.3.4 too big" in " ".join(body.get_content().split())
    assert Address.objects.get().problem == ""


@pytest.mark.parametrize(
    "error",
    [
        smtplib.SMTPConnectError(554, b"no service here"),
        smtplib.SMTPSenderRefused(550, b"sender unknown", "tapestry@x.org"),
        smtplib.SMTPHeloError(550, b"go away"),
        smtplib.SMTPAuthenticationError(535, b"bad password"),
    ],
)
def test_a_fault_of_this_site_pauses_no_address(
    jones: Filter,
    store: Store,
    smtp: SmtpServer,
    to_alice: MakeDestination,
    monkeypatch: pytest.MonkeyPatch,
    error: smtplib.SMTPException,
) -> None:
    destination = to_alice("digest")
    store(jones, "m")

    def fail(self: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.backends.smtp.EmailBackend.open", fail)
        turn_of_mail()
    assert Address.objects.get().problem == ""
    destination.refresh_from_db()
    assert "does not serve this site" in destination.error
    turn_of_mail()
    assert len(smtp.messages) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "530 5.7.0 Authentication required",
        "554 5.7.1 <mail.x.org[192.0.2.1]>: Client host rejected: Access denied",
        "550 5.1.8 <tapestry@x.org>: Sender address rejected",
    ],
)
def test_a_fault_of_this_site_pauses_no_address_where_it_is_said_of_a_recipient(
    jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination, answer: str
) -> None:
    to_alice("digest"), to_alice("forward")
    store(jones, "m")
    smtp.rcpt = answer
    turn_of_mail()
    assert Address.objects.get().problem == ""
    for row in Destination.objects.all():
        assert answer in row.error and row.due_at is not None
    smtp.rcpt = ""
    turn_of_mail()
    assert len(smtp.messages) == 2


def test_a_digest_that_cannot_be_made_holds_up_no_other(
    bob: User, jones: Filter, store: Store, smtp: SmtpServer, to_alice: MakeDestination,
    set_asides: Planted, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    errors, excerpts_of = set_asides.expect(), by_digest.excerpts_of

    def fails_for_bad(matches: Any) -> Any:
        if any(match.msgid == "bad" for match in matches):
            raise KeyError("nobody foresaw this")
        return excerpts_of(matches)

    monkeypatch.setattr(by_digest, "excerpts_of", fails_for_bad)
    of_bob = Filter.objects.create(owner=bob, name="b", text="b", phrase="b")
    address = Address.objects.create(owner=bob, email="bob@example.org", confirmed_at=1)
    broken = Destination.objects.create(owner=bob, kind="digest", name="d", address=address)
    to_alice("digest")
    store(jones, "good")
    store(of_bob, "bad")
    turn_of_mail()
    assert smtp.recipients == ["al@example.org"]
    broken.refresh_from_db()
    assert "its operator sees why" in broken.error.lower() and broken.holder == ""
    assert [key for _, key, _ in errors] == [str(broken.pk)]
