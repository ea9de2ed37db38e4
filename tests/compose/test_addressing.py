"""Whom replies go to, and what they refer to: a table of cases, hostile ones among them."""

from __future__ import annotations

import pytest

from tapestry.compose.addressing import MOST_REFERENCES, addressed, read_headers, references
from tapestry.compose.recipients import in_words
from tapestry.core.message import Message
from tapestry.ingest.parse import parse

OWN = ("terry@x.org", "t@parc.org")


def reply(way: str, raw: str) -> tuple[str, str, tuple[str, ...]]:
    data = raw.replace("\n", "\r\n").encode() + b"\r\n\r\nHello\r\n"
    found = addressed(way, parse(data).message, read_headers(data), OWN)
    return in_words(found.to), in_words(found.cc), found.newsgroups


@pytest.mark.parametrize(
    ("way", "raw", "to", "cc"),
    [
        ("reply", "From: Mary Jones <mary@x.org>", "Mary Jones <mary@x.org>", ""),
        ("reply", "From: mary@x.org\nReply-To: Office <o@x.org>", "Office <o@x.org>", ""),
        ("reply", "From: =?utf-8?q?M=C3=A4ry?= <m@x.org>", "Märy <m@x.org>", ""),
        ("reply", "From: terry@x.org\nTo: bill@x.org, t@parc.org", "bill@x.org", ""),
        ("reply", "From: terry@x.org\nTo: terry@x.org", "terry@x.org", ""),
        (
            "all",
            "From: m@x.org\nTo: T <TERRY@x.org>, bill@x.org\nCc: m@x.org, ann@x.org, t@parc.org",
            "m@x.org",
            "bill@x.org, ann@x.org",
        ),
        (
            "all",
            "From: m@x.org\nReply-To: l@x.org\nTo: l@x.org, l@x.org\nCc: bill@x.org",
            "l@x.org",
            "bill@x.org",
        ),
        ("all", "From: terry@x.org\nTo: a@x.org\nCc: b@x.org", "a@x.org", "b@x.org"),
        ("list", "From: m@x.org\nList-Post: <mailto:l@x.org?subject=x>", "l@x.org", ""),
        ("list", "From: m@x.org\nList-Post: NO\nTo: l@x.org", "m@x.org", "l@x.org"),
        ("list", "From: m@x.org\nList-Post: <https://x.org/>\nTo: l@x.org", "m@x.org", "l@x.org"),
        ("list", "From: m@x.org\nList-Post: <mailto:l%0d%0aBcc:e@x.org>", "m@x.org", ""),
        ("reply", "From: m@x.org\nReply-To: =?utf-8?q?a=0D=0ABcc:_e@x.org?= <b@x.org>", None, ""),
        ("reply", "From: nobody at all", "", ""),
        ("reply", "From: m@x.org\nReply-To: <>, not an address", "m@x.org", ""),
        ("reply", "Subject: no sender", "", ""),
    ],
)
def test_whom_a_reply_goes_to(way: str, raw: str, to: str | None, cc: str) -> None:
    found_to, found_cc, _ = reply(way, raw)
    assert "\r" not in found_to + found_cc and "\n" not in found_to + found_cc
    assert found_cc == cc and (to is None or found_to == to)


@pytest.mark.parametrize(
    ("raw", "groups", "to"),
    [
        ("From: m@x.org\nNewsgroups: comp.a,comp.b", ("comp.a", "comp.b"), ""),
        ("From: m@x.org\nNewsgroups: comp.a,comp.b\nFollowup-To: comp.b", ("comp.b",), ""),
        ("From: m@x.org\nNewsgroups: comp.a\nFollowup-To: poster", (), "m@x.org"),
        ("From: m@x.org\nSubject: no news", (), "m@x.org"),
    ],
)
def test_a_followup(raw: str, groups: tuple[str, ...], to: str) -> None:
    assert reply("followup", raw) == (to, "", groups)


def test_a_message_without_its_original_is_answered_by_its_columns() -> None:
    kept = Message("a@x", sender="m@x.org", sender_name="Mary", to=("b@x.org", "terry@x.org"))
    found = addressed("all", kept, {}, OWN)
    assert (in_words(found.to), in_words(found.cc)) == ("Mary <m@x.org>", "b@x.org")


def test_references_are_the_chain_and_the_message() -> None:
    message = Message("c@x", inreplyto="b@x", references=("a@x", "b@x"))
    assert references(message) == ("c@x", ("a@x", "b@x", "c@x"))
    assert references(Message("c@x", inreplyto="b@x")) == ("c@x", ("b@x", "c@x"))
    copy = Message(f"c@x copy:{'0' * 32}")
    assert references(copy) == ("c@x", ("c@x",))


@pytest.mark.parametrize(
    "msgid", ["a b@x", "a@x>\r\nBcc: e@x", "ä@x", f"{'a' * 990}@x", "0a@content.invalid", "none"]
)
def test_what_is_no_message_id_is_not_referred_to(msgid: str) -> None:
    assert references(Message(msgid, references=("ok@x", msgid))) == (None, ("ok@x",))


def test_a_long_chain_keeps_its_beginning_and_its_end() -> None:
    chain = tuple(f"{number}@x" for number in range(500))
    _, kept = references(Message("last@x", references=chain))
    assert len(kept) == MOST_REFERENCES and kept[0] == "0@x" and kept[-2:] == ("499@x", "last@x")
