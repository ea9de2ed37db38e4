"""Mail servers that refuse, break off or are away, and Django's other mail backends."""

from __future__ import annotations

import smtplib
from email import message_from_bytes, policy
from typing import Any

import pytest

from filters.compose import servers
from filters.people.models import User
from tests.support.servers.smtp import SmtpServer, running_smtp


def test_smtp_names_those_it_refuses(smtp: SmtpServer, writer: User) -> None:
    smtp.rcpt = "550 no such user"
    transmission = servers.send_mail(
        writer, "alice@example.org", ["a@x.org"], b"Subject: x\r\n\r\nx"
    )
    assert transmission.refused == {"a@x.org": "The mail server said: 550 no such user"}
    smtp.rcpt = "451 later"
    transmission = servers.send_mail(
        writer, "alice@example.org", ["a@x.org"], b"Subject: x\r\n\r\nx"
    )
    assert transmission.deferred and not transmission.refused and not transmission.error


@pytest.mark.parametrize("second", ["421 4.3.2 shutting down", "cut"])
def test_a_session_that_ends_before_the_data_sends_to_nobody(
    smtp: SmtpServer, writer: User, second: str
) -> None:
    everybody = ["gone@x.org", "a@x.org", "b@x.org", "c@x.org"]
    smtp.rcpt_of = {"gone@x.org": "550 no such user", "b@x.org": second}
    transmission = servers.send_mail(writer, "alice@example.org", everybody, b"Subject: x\r\n\r\nx")
    assert (
        smtp.taken == []
        and transmission.accepted == ()
        and list(transmission.refused) == ["gone@x.org"]
    )
    assert (
        list(transmission.deferred) == ["a@x.org", "b@x.org", "c@x.org"] and not transmission.error
    )
    words = "broke off" if second == "cut" else "421 4.3.2 shutting down"
    assert (
        all(words in text for text in transmission.deferred.values())
        and not transmission.may_be_taken
    )


@pytest.mark.parametrize(
    ("answer", "may_be_taken"), [("451 busy", False), ("554 spam", False), ("no reply", True)]
)
def test_what_is_no_reply_leaves_open_whether_it_was_taken(
    smtp: SmtpServer, writer: User, answer: str, may_be_taken: bool
) -> None:
    smtp.data = answer
    transmission = servers.send_mail(
        writer, "alice@example.org", ["a@x.org"], b"Subject: x\r\n\r\nx"
    )
    assert transmission.may_be_taken == may_be_taken and transmission.is_final == answer.startswith(
        "5"
    )


def test_a_mail_server_that_is_away(writer: User, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", 1, 2
    transmission = servers.send_mail(writer, "alice@example.org", ["a@x.org"], b"x")
    assert "cannot be reached" in transmission.error and not transmission.is_final
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    transmission = servers.send_mail(writer, "alice@example.org", ["a@x.org"], b"x")
    assert "name your own under Sending" in transmission.error and transmission.is_final


def test_a_mail_server_that_refuses_the_site(smtp: SmtpServer, writer: User, settings: Any) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "site", "wrong"
    with running_smtp("site", "right") as server:
        settings.EMAIL_PORT = server.port
        transmission = servers.send_mail(writer, "alice@example.org", ["a@x.org"], b"x")
    assert (
        transmission.error == "The mail server refused this site (535)."
        and not transmission.is_final
    )


def test_mail_by_another_backend_of_django(writer: User, mailoutbox: list[Any]) -> None:
    raw = b"Subject: x\r\n\r\nx"
    assert servers.send_mail(writer, "alice@example.org", ["a@x.org"], raw).accepted
    assert mailoutbox[0].message().as_bytes() == raw


def test_a_connection_that_breaks_after_the_data(writer: User, smtp: SmtpServer) -> None:
    smtp.after_data = "cut"
    transmission = servers.send_mail(
        writer, "alice@example.org", ["a@x.org"], b"Subject: x\r\n\r\nx"
    )
    assert "broke off" in transmission.deferred["a@x.org"] and not transmission.is_final
    assert transmission.may_be_taken
    assert isinstance(smtplib.SMTPServerDisconnected(), OSError)
    assert message_from_bytes(smtp.taken[0], policy=policy.default)["Subject"] == "x"
