"""8-bit mail and long lines, to servers with and without 8BITMIME: nothing is sent raw."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage as Parsed

import pytest
from django.core.mail import EmailMessage

from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.mail import outgoing
from filters.delivery.models import Address, Destination
from filters.delivery.ways import forward
from filters.people.models import User
from filters.runs.store.release import release
from filters.site.settings.email_url import email_settings
from tests.support.delivery.recorded_way import Store
from tests.support.servers.smtp import SmtpServer

UTF8 = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n"
HEAD = "Message-ID: <one@x.org>\r\nFrom: joe@x.org\r\nSubject: Hi\r\nMIME-Version: 1.0\r\n"
PLAIN = f"{HEAD}{UTF8}\r\nGrüße\r\n".encode()
MIXED = (
    f'{HEAD}Content-Type: multipart/mixed; boundary="b"\r\nContent-Transfer-Encoding: 8bit\r\n\r\n'
    f"--b\r\n{UTF8}\r\nGrüße\r\n--b\r\nContent-Type: message/rfc822\r\n"
    f"Content-Transfer-Encoding: 8bit\r\n\r\nSubject: in it\r\n{UTF8}\r\nÄpfel\r\n--b--\r\n"
).encode()
SIGNED = b"DKIM-Signature: v=1; b=abc\r\n" + PLAIN
NO_MIME = b"Subject: Hi\r\n\r\nGr\xc3\xbc\xc3\x9fe\r\n"
RAW_HEADER = PLAIN.replace(b"Hi", b"Gr\xfc\xdfe")
LONG = f"{HEAD}\r\n{'x' * 999}\r\n".encode()
LONG_AND_8BIT = f"{HEAD}{UTF8}\r\n{'ü' * 600}\r\n".encode()
AT_MOST = f"{HEAD}\r\n{'x' * 998}\r\n".encode()

Forward = Callable[..., Parsed]


@pytest.fixture
def forwarded(
    alice: User, jones: Filter, store: Store, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> Forward:
    """Return a function that forwards a message, and gives what arrived."""

    def forwards(original: bytes, style: str = "resent", *, offers: bool = True) -> Parsed:
        smtp.has_8bitmime = offers
        monkeypatch.setattr(forward, "raw_of", lambda msgid, audience: original)
        address = Address.objects.create(owner=alice, email="al@example.org", confirmed_at=1)
        Destination.objects.create(
            owner=alice, kind="forward", name="f", address=address, settings={"style": style}
        )
        store(jones, "one@x.org")
        release()
        sending.deliver(["forward"], 1)
        [message] = smtp.messages
        return message

    return forwards


def eight_bits(smtp: SmtpServer) -> list[bool]:
    return ["BODY=8BITMIME" in options for options in smtp.options]


@pytest.mark.parametrize("style", ["resent", "attached"])
@pytest.mark.parametrize("original", [PLAIN, MIXED, SIGNED, RAW_HEADER])
def test_8_bit_mail_is_announced_and_keeps_its_bytes(
    forwarded: Forward, smtp: SmtpServer, original: bytes, style: str
) -> None:
    forwarded(original, style)
    assert original in smtp.taken[0]
    assert eight_bits(smtp) == [True]
    own_headers = smtp.taken[0].partition(b"\r\n\r\n")[0].lower()
    assert b"content-transfer-encoding: 8bit" in own_headers or original is RAW_HEADER


@pytest.mark.parametrize("original", [PLAIN, MIXED])
def test_what_is_not_signed_is_written_in_7_bits_for_a_server_that_takes_no_more(
    forwarded: Forward, smtp: SmtpServer, original: bytes
) -> None:
    message = forwarded(original, offers=False)
    assert smtp.taken[0].isascii() and eight_bits(smtp) == [False]
    assert (message["Message-ID"], message["Subject"]) == ("<one@x.org>", "Hi")
    parts = [part for part in message.walk() if part.get_content_type() == "text/plain"]
    texts = [part.get_content().strip() for part in parts]
    assert texts == (["Grüße", "Äpfel"] if original is MIXED else ["Grüße"])
    encodings = {part["Content-Transfer-Encoding"] for part in message.walk()}
    assert "8bit" not in encodings


@pytest.mark.parametrize(
    ("original", "style", "offers"),
    [
        (SIGNED, "resent", False),
        (SIGNED, "attached", False),
        (NO_MIME, "resent", False),
        (RAW_HEADER, "resent", False),
        (RAW_HEADER, "attached", False),
        (LONG, "resent", True),
        (LONG, "resent", False),
        (LONG, "attached", False),
        (LONG_AND_8BIT, "resent", True),
        (LONG_AND_8BIT, "resent", False),
        (b"Subject: nul\r\n\r\n\0\r\n", "resent", True),
    ],
)
def test_what_cannot_be_sent_again_is_a_file_of_the_same_bytes(
    forwarded: Forward, smtp: SmtpServer, original: bytes, style: str, offers: bool
) -> None:
    message = forwarded(original, style, offers=offers)
    assert smtp.taken[0].isascii() and eight_bits(smtp) == [False]
    assert max(map(len, smtp.taken[0].splitlines())) <= 998
    [file] = message.iter_attachments()
    assert (file.get_filename(), file.get_content()) == ("message.eml", original)


def test_a_line_of_998_bytes_is_sent_again(forwarded: Forward, smtp: SmtpServer) -> None:
    forwarded(AT_MOST)
    assert smtp.taken[0].endswith(AT_MOST)


@pytest.mark.parametrize("offers", [True, False])
def test_a_notice_arrives_as_it_was_written(smtp: SmtpServer, offers: bool) -> None:
    smtp.has_8bitmime = offers
    notice = EmailMessage("Grüße", "Schöne Grüße\n", "site@x.org", ["al@example.org"])
    assert outgoing.send(notice, "al@example.org").state == "delivered"
    assert smtp.taken[0].isascii() is not offers and eight_bits(smtp) == [offers]
    [message] = smtp.messages
    assert message["Subject"] == "Grüße" and "Schöne Grüße" in message.get_content()


def test_a_site_sends_with_this_backend() -> None:
    made = email_settings("smtp://mail.example.org")
    assert made["EMAIL_BACKEND"] == "filters.delivery.mail.smtp.EmailBackend"
