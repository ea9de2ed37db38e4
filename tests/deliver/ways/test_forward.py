"""Forwarding: the original keeps its bytes, and what is written around it can be read."""

from __future__ import annotations

from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Link
from tapestry.deliver.mail.envelope import DELIVERY_HEADER
from tapestry.deliver.mail.mime_parts import crlf
from tapestry.deliver.ways.forward import attached, can_be_resent, resent
from tapestry.ingest.parse import parse
from tests.support.delivery.delivered_matches import ENVELOPE, SIGNER, match

KEY = "forward-7-12"
ORIGINAL = (
    b"Received: from a.example by b.example; Mon, 23 Nov 2026 06:00:00 +0000\r\n"
    b"DKIM-Signature: v=1; a=rsa-sha256; h=from:subject;\r\n b=abc\r\n"
    b"From: =?utf-8?q?Ren=C3=A9?= <rene@example.com>\r\n"
    b"Subject:  lunch  \r\n"
    b"Message-ID: <lunch@example.com>\r\n"
    b"\r\n"
    b"Noon?\r\n--\r\nRen\xe9\r\n"
)
LF = ORIGINAL.replace(b"\r\n", b"\n")
BINARY = st.binary(max_size=300)


def parsed(data: bytes) -> EmailMessage:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


@pytest.mark.parametrize("original", [ORIGINAL, LF])
def test_a_message_sent_again_is_its_own_bytes_after_the_headers_of_who_sent_it(
    original: bytes,
) -> None:
    data = resent(original, ENVELOPE, KEY)
    assert data.endswith(original)
    message = parsed(data)
    assert not message.defects
    assert message.items()[:6] == [
        ("Resent-From", "Tapestry <digest@tapestry.example.org>"),
        ("Resent-To", "Terry Moore <terry@example.com>"),
        ("Resent-Date", "Mon, 23 Nov 2026 08:00:00 +0100"),
        ("Resent-Message-ID", "<digest-1-40@tapestry.example.org>"),
        (DELIVERY_HEADER, SIGNER.value(KEY)),
        ("X-Auto-Response-Suppress", "All"),
    ]
    assert message.items()[6:] == parsed(original).items()
    assert message.get_payload() == parsed(original).get_payload()
    assert SIGNER.has_signed(data)


@given(st.sampled_from([ORIGINAL, LF]), BINARY)
def test_a_message_sent_again_is_read_as_the_same_message(original: bytes, rest: bytes) -> None:
    assume(can_be_resent(original + rest))
    first = parse(original + rest, now=ENVELOPE.now).message
    again = parse(resent(original + rest, ENVELOPE, KEY), now=ENVELOPE.now).message
    assert again.msgid == "lunch@example.com"
    assert replace(again, size=first.size) == first


@pytest.mark.parametrize("original", [ORIGINAL, LF])
def test_lines_that_are_added_end_as_those_of_the_original(original: bytes) -> None:
    ends = original.count(b"\r\n") > 0
    for data in (resent(original, ENVELOPE, KEY), attached(original, match(1), ENVELOPE, KEY)):
        assert data.count(b"\r\n") == (data.count(b"\n") if ends else 0)


@pytest.mark.parametrize("original", [b"", b"\r\nonly text\r\n", b"From joe Mon Nov 23\nA: b\n\n"])
def test_what_begins_with_no_header_is_not_sent_again(original: bytes) -> None:
    assert not can_be_resent(original)
    with pytest.raises(TapestryError) as caught:
        resent(original, ENVELOPE, KEY)
    assert caught.value.hint == "Forward it as an attachment."


@given(BINARY)
def test_any_message_sent_again_ends_with_its_bytes(rest: bytes) -> None:
    original = b"X-First: 1\r\n" + rest
    assume(can_be_resent(original))
    data = resent(original, ENVELOPE, KEY)
    assert data.endswith(original)
    assert parsed(data).keys()[:7] == [
        "Resent-From", "Resent-To", "Resent-Date", "Resent-Message-ID", DELIVERY_HEADER,
        "X-Auto-Response-Suppress", "X-First",
    ]  # fmt: skip


def test_an_attached_message_comes_with_a_note_that_says_why() -> None:
    row = match(3, subject="lunch", sender="rene@example.com", sender_name="René")
    message = parsed(attached(ORIGINAL, row, ENVELOPE, KEY))
    assert not message.defects
    assert message["Subject"] == "New in filter-1: lunch"
    assert message["Reply-To"] == "René <rene@example.com>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert message[DELIVERY_HEADER] == SIGNER.value(KEY)
    note, attachment = message.iter_parts()
    text = note.get_content()
    assert "Your filter filter-1 found the attached message: replies by person 1" in text
    assert "Why: Jones replied to message 3" in text
    unsaid = parsed(attached(ORIGINAL, replace(row, filter_text=""), ENVELOPE, KEY))
    note = next(unsaid.iter_parts())
    assert "Your filter filter-1 found the attached message." in note.get_content().splitlines()
    for url in (row.url, *(link.url for link in row.links), ENVELOPE.unsubscribe_url):
        assert url in text
    assert attachment.get_content_type() == "message/rfc822"
    assert attachment["Content-Transfer-Encoding"] == "8bit"
    assert attachment.get_content()["Message-ID"] == "<lunch@example.com>"


def test_only_addresses_of_the_web_are_in_the_note() -> None:
    row = match(1, url="file:///etc/passwd", links=(Link("Vote for it", "javascript:alert(1)"),))
    note, _ = parsed(attached(ORIGINAL, row, ENVELOPE, KEY)).iter_parts()
    assert "Vote for it" not in note.get_content()
    assert "file:" not in note.get_content()


def attachment_of(data: bytes) -> tuple[str, bytes]:
    """Return the type and the bytes of the second part, cut out by hand as RFC 2046 says."""
    boundary = parsed(data).get_boundary()
    assert boundary is not None
    _, _, part, last = data.split(b"--" + boundary.encode("ascii"))
    assert last.strip() == b"--"
    end = b"\r\n" if last.endswith(b"\r\n") else b"\n"
    headers, content = part.split(end + end, 1)
    assert content.endswith(end)
    content_type = message_from_bytes(headers.lstrip() + end + end).get_content_type()
    return content_type, content.removesuffix(end)


@settings(deadline=None)
@given(BINARY | st.just(ORIGINAL) | st.just(LF))
def test_an_attached_message_keeps_its_bytes(original: bytes) -> None:
    data = attached(original, match(1), ENVELOPE, KEY)
    content_type, content = attachment_of(data)
    if content_type == "message/rfc822":
        assert content == original
    else:
        _, file = parsed(data).iter_parts()
        assert file.get_content() == original


@pytest.mark.parametrize("original", [b"A: b\n\n" + b"x" * 1200 + b"\n", b"A: b\n\n\0\n"])
def test_what_smtp_cannot_carry_is_attached_as_a_file(original: bytes) -> None:
    _, file = parsed(attached(original, match(1), ENVELOPE, KEY)).iter_parts()
    assert file.get_content_type() == "application/octet-stream"
    assert file.get_filename() == "message.eml"
    assert file.get_content() == original


def test_no_message_can_hold_the_boundary_that_ends_it() -> None:
    first = attached(ORIGINAL, match(1), ENVELOPE, KEY)
    boundary = parsed(first).get_boundary()
    assert boundary is not None
    hostile = ORIGINAL + b"--" + boundary.encode("ascii") + b"--\r\n"
    assert attachment_of(attached(hostile, match(1), ENVELOPE, KEY))[1] == hostile


def test_it_is_the_same_bytes_whenever_it_is_tried_again() -> None:
    assert attached(LF, match(1), ENVELOPE, KEY) == attached(LF, match(1), ENVELOPE, KEY)


@settings(deadline=None)
@given(st.text(st.characters()), st.text(st.characters()))
def test_no_stranger_can_add_a_header(subject: str, sender: str) -> None:
    plain = parsed(attached(ORIGINAL, match(1), ENVELOPE, KEY)).keys()
    row = match(1, subject=subject, sender_name=subject, sender=sender, explanation=subject)
    message = parsed(attached(ORIGINAL, row, ENVELOPE, KEY))
    assert [name for name in plain if name != "Reply-To"] == [
        name for name in message if name != "Reply-To"
    ]
    assert message["To"] == "Terry Moore <terry@example.com>"
    assert len(list(message.iter_parts())) == 2


@given(BINARY)
def test_on_the_wire_all_lines_end_in_crlf(data: bytes) -> None:
    wire = crlf(data)
    assert wire.count(b"\r") == wire.count(b"\n") == wire.count(b"\r\n")
    assert crlf(wire) == wire
    assert wire.replace(b"\r\n", b"\n") == data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
