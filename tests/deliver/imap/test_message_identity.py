"""A message is known again by its Message-ID, or by its bytes."""

import pytest

from tapestry.deliver.imap.message_identity import MessageIdentity, message_id_field


@pytest.mark.parametrize(
    ("head", "message_id"),
    [
        (b"Message-ID: <a@x.org>", b"<a@x.org>"),
        (b"message-id:\r\n\t<a@x.org>\r\nSubject: x", b"<a@x.org>"),
        (b"Subject: x\nMESSAGE-ID : <a@x.org>\nMessage-ID: <b@x.org>", b"<a@x.org>"),
        (b"X-Message-ID: <a@x.org>", b""),
        (b"Subject: x\r\n Message-ID: <a@x.org>", b""),
        (b"", b""),
    ],
)
def test_the_field_is_found_in_the_header_section_only(head, message_id):
    assert message_id_field(head + b"\r\n\r\nMessage-ID: <body@x.org>\r\n") == message_id


@pytest.mark.parametrize(
    "value", [b"", b"<>", b"a@x.org", b"<a b@x.org>", b"<\xe4@x.org>", b"<x" * 9]
)
def test_what_cannot_be_searched_for_is_known_by_its_bytes(value):
    raw = b"Message-ID: " + value + b"\nSubject: x\n\nHello\n"
    identity = MessageIdentity.of(raw)
    assert identity == MessageIdentity.of(raw.replace(b"\n", b"\r\n"))
    assert (identity.message_id, identity.size) == (b"", len(raw) + 4)
    assert identity != MessageIdentity.of(raw.replace(b"Hello", b"HELLO"))


def test_a_msgid_that_was_made_up_cannot_be_searched_for():
    assert MessageIdentity.of_msgid("a@x.org") == MessageIdentity(b"<a@x.org>")
    assert MessageIdentity.of_msgid("a b@x.org") is None
    assert MessageIdentity.of_msgid("ä@x.org") is None


def test_a_header_without_end_takes_no_longer_than_its_length():
    assert message_id_field(b"message-id:" + b"\n " * 500_000) == b""
    assert message_id_field(b"message-id " * 200_000) == b""
