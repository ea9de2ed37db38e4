"""Mail made to break the parser: it is kept, soon, and what is wrong with it is noted."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from tapestry.ingest.parse import UNREADABLE, parse
from tests.support.campaigns import campaigns
from tests.support.work import SECOND, counted

SIMPLE = b"From: Joe <Joe@X.org>\nMessage-ID: <a@x.org>\n"


def nested(levels):
    inner = b"".join(
        b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (n, n + 1)
        for n in range(levels)
    )
    head = SIMPLE + b"Content-Type: multipart/mixed; boundary=b0\n\n"
    return head + inner + b"--b%d\n\nhello\n" % levels


HOSTILE = {
    "parts in parts": nested(2000),
    "lines in open parts": nested(90) + b"\n" * 400_000,
    "parameters": SIMPLE + b'Content-Type: text/plain; a="' + b";" * 100_000 + b"\n\nhi",
    "blanks": SIMPLE + b"Subject: x" + b" " * 60_000 + b"y\n\nhi",
    "messages in messages": SIMPLE + b"Content-Type: message/rfc822\n\n" * 2000 + b"hi",
    "headers": SIMPLE + b"X-A: b\n" * 100_000 + b"\nhi",
    "recipients": SIMPLE + b"To: " + b"ann@x.org,\n " * 50_000 + b"\n\nhi",
    "commas": SIMPLE + b"To: " + b"a," * 30_000 + b"\n\nhi",
    "encoded words": SIMPLE + b"Subject: " + b"=?a?q?" * 10_000 + b"\n\nhi",
    "folds": SIMPLE + b"Subject: x" + b"\n " * 20_000 + b"y\n\nhi",
    "parentheses": SIMPLE + b"To: " + b"(" * 60_000 + b"\n\nhi",
    "open tags": SIMPLE + b"Content-Type: text/html\n\n" + b"<a " * 150_000,
    "open comments": SIMPLE + b"Content-Type: text/html\n\n" + b"<!--" * 150_000,
    "open sections": SIMPLE + b"Content-Type: text/html\n\n" + b"<![CDATA[" * 50_000,
    "some elements in elements": SIMPLE + b"Content-Type: text/html\n\n" + b"<div>" * 20_000,
    "elements in elements": SIMPLE + b"Content-Type: text/html\n\n" + b"<div>" * 100_000,
    "some ends of nothing": SIMPLE
    + b"Content-Type: text/html\n\n"
    + b"<b>" * 10_000
    + b"</p>" * 18_000,
    "ends of nothing": SIMPLE + b"Content-Type: text/html\n\n" + b"<b>" * 50_000 + b"</p>" * 90_000,
    "one long line": SIMPLE + b"\n" + b"x" * 50_000_000,
    "a big attachment": SIMPLE
    + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhi\n--b\nContent-Type: a/b\n"
    + b"Content-Transfer-Encoding: base64\n\n"
    + (b"A" * 76 + b"\n") * 600_000
    + b"--b--\n",
}


SLOW = {"elements in elements", "ends of nothing"}
"""What takes seconds, and at a fifth of its size tells nearly as much."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.long] * (what in SLOW)) for what in HOSTILE]
)
def test_mail_made_to_break_the_parser_is_kept_soon(what):
    with counted() as work:
        message = parse(HOSTILE[what]).message
    assert work.calls < (SECOND if what.startswith("some ") else 5 * SECOND)
    assert (message.msgid, message.sender) == ("a@x.org", "joe@x.org")
    assert message.size == len(HOSTILE[what])


def test_what_nobody_thought_of_is_kept_and_counted(monkeypatch):
    monkeypatch.setattr("tapestry.ingest.parse.own_id", lambda value: 1 / 0)
    parsed = parse(SIMPLE + b"\nhello\n")
    assert parsed.problems == (UNREADABLE, "ZeroDivisionError")
    assert parsed.message.body == "hello\n"
    assert parsed.message.size == len(SIMPLE) + 7


def test_parts_a_thousand_deep_are_noted():
    assert parse(nested(1000)).problems == ("parts within parts, too deep to be read",)


def test_of_a_huge_attachment_only_the_size_is_kept():
    text = b"Content-Type: text/plain\n\nhello\n--b\n"
    head = SIMPLE + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + text
    head += b"Content-Type: application/zip\nContent-Transfer-Encoding: base64\n\n"
    raw = head + (b"A" * 76 + b"\n") * 2_700_000 + b"\n--b\n" + text + b"\n--b--\n"
    parsed = parse(raw)
    assert parsed.problems == ()
    assert parsed.message.size == len(raw) > 200_000_000
    assert (parsed.message.body, parsed.message.attachments) == ("hello\nhello\n", 1)


HEADS = st.sampled_from(
    ["From", "To", "Date", "Subject", "References", "Content-Type", "Message-ID", "List-Id"]
)
VALUES = st.text(st.sampled_from(list('<>@",;:()=?\\ \n\taé.b-_0/*%\0')), max_size=40)


@campaigns(100, 300, st.lists(st.tuples(HEADS, VALUES), max_size=6), st.binary(max_size=60))
def test_parsing_never_raises(headers, body):
    head = "".join(f"{name}: {value}\n" for name, value in headers)
    parsed = parse(head.encode() + b"\n" + body)
    assert parsed.message.msgid
    assert UNREADABLE not in parsed.problems
