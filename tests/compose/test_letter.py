"""Letters as bytes: headers that no value can break, text that flows, files as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tapestry.compose.letter import File, Letter, file_name, newsgroup, to_bytes
from tapestry.compose.recipients import Recipient, read_recipients
from tapestry.core.errors import TapestryError
from tapestry.ingest.parse import parse

AT = datetime(2026, 7, 1, 9, 5, tzinfo=ZoneInfo("Europe/Berlin"))
TERRY = Recipient("terry@x.org", "Terry")


TO_MARY = (Recipient("m@x.org"),)
LUNCH = Letter(TERRY, "1@site", AT, subject="Lunch", text="At noon?", to=TO_MARY)


def written(**fields: Any) -> tuple[bytes, EmailMessage]:
    raw = to_bytes(replace(LUNCH, **fields))
    return raw, message_from_bytes(raw, policy=policy.default)


def test_a_letter_has_its_headers_in_the_zone_of_its_writer() -> None:
    raw, message = written(in_reply_to="b@x", references=("a@x", "b@x"))
    assert message["Date"] == "Wed, 01 Jul 2026 09:05:00 +0200"
    assert message["From"] == "Terry <terry@x.org>" and message["To"] == "m@x.org"
    assert message["In-Reply-To"] == "<b@x>" and message["References"] == "<a@x> <b@x>"
    assert message.get_content_type() == "text/plain"
    assert message["Content-Type"].params["format"] == "flowed"
    assert b"\n" not in raw.replace(b"\r\n", b"") and raw.isascii()


@pytest.mark.parametrize(
    "hostile", ["a\r\nBcc: eve@x.org", "a\nX: y", "a\0b", "a\x0bb", "a\u2028b", "=?utf-8?q?a=0Ab?="]
)
def test_no_value_adds_a_header(hostile: str) -> None:
    names = {"from", "to", "subject", "date", "message-id", "mime-version", "content-type"}
    names.add("content-transfer-encoding")
    _, message = written(subject=hostile, to=(Recipient("m@x.org", hostile),))
    assert set(map(str.lower, message.keys())) == names
    assert "\n" not in message["Subject"]


def test_subjects_and_names_of_all_languages() -> None:
    raw, message = written(subject="Grüße 你好 " * 20, to=(Recipient("m@bücher.de", "Jö, 你"),))
    assert message["Subject"].split() == ("Grüße 你好 " * 20).split()
    assert message["To"].addresses[0].display_name == "Jö, 你"
    assert message["To"].addresses[0].domain == "xn--bcher-kva.de"
    assert max(map(len, raw.split(b"\r\n"))) < 998


@pytest.mark.parametrize("msgid", ["a@x>\r\nBcc: e@x", "two words@x", "a" * 999])
def test_a_message_id_that_would_break_the_header_is_refused(msgid: str) -> None:
    with pytest.raises(TapestryError):
        written(references=(msgid,))


def test_text_flows_and_is_read_as_it_was_written() -> None:
    text = f"{'word ' * 40}\n>> {'quoted ' * 30}\n indented\nFrom me\n.\n-- \nTerry"
    raw, message = written(text=text)
    lines = str(message.get_content()).replace("\r\n", "\n").split("\n")
    assert max(map(len, lines)) <= 76 and "  indented" in lines and " From me" in lines
    assert "-- " in lines and "." in lines
    assert [line[:3] for line in lines if "quoted" in line] == [">> "] * 4
    flowing = "".join(lines[: lines.index(next(x for x in lines if x.startswith(">>")))])
    assert flowing == ("word " * 40).rstrip()
    words = (parse(raw).message.body or "").replace(">>", "").split()
    assert words == text.replace(">>", "").split()


def test_files_are_attached_as_they_are() -> None:
    original = b"Subject: hi\r\nMessage-ID: <o@x>\r\n\r\nHello\r\n"
    binary = bytes(range(256)) * 10
    files = [
        File("plän.pdf", binary, "application/pdf"),
        File("o.eml", original, "message/rfc822"),
        File("x", b"<p>", "text/html; charset=x\r\nBcc: eve@x.org"),
        File("big.eml", b"Subject: \xff\r\n\r\n" + b"a" * 2000, "message/rfc822"),
    ]
    raw, message = written(files=files)
    parts = list(message.iter_attachments())
    assert parts[0].get_filename() == "plän.pdf" and parts[0].get_content() == binary
    assert parts[1].get_content_type() == "message/rfc822" and original in raw
    kinds = [part.get_content_type() for part in parts[2:]]
    assert kinds == ["application/octet-stream"] * 2
    assert parts[3].get_content() == files[3].content
    assert parse(raw).message.attachments == 4 and "Bcc" not in message


def test_a_letter_to_hidden_recipients_and_one_to_newsgroups() -> None:
    assert written(to=())[1]["To"] == "undisclosed-recipients:;"
    news = written(to=(), newsgroups=("comp.a", "comp.b"))[1]
    assert news["Newsgroups"] == "comp.a,comp.b" and news["To"] is None


@pytest.mark.parametrize("name", ["a b", "comp.a\r\nControl: cancel", "", "poster", "ä.b", "-"])
def test_what_is_no_newsgroup(name: str) -> None:
    with pytest.raises(TapestryError, match="not the name of a newsgroup"):
        newsgroup(name)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../x.sh", "x.sh"),
        ("a\r\nb.txt", "a b.txt"),
        ("", "file"),
        ("..", "file"),
        ('a"b', "a-b"),
    ],
)
def test_names_of_files(name: str, kept: str) -> None:
    assert file_name(name) == kept


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mary Jones <Mary@x.org>; bill@x.org", ["Mary Jones <Mary@x.org>", "bill@x.org"]),
        ('"Jones, Mary" <m@x.org>, m@x.org', ['"Jones, Mary" <m@x.org>']),
        ("mary@x.org (Mary)", ["Mary <mary@x.org>"]),
        ("a@x.org,\nb@x.org,,", ["a@x.org", "b@x.org"]),
        ("", []),
        ("<mailto:a@x.org>", ["a@x.org"]),
    ],
)
def test_recipients_as_they_are_typed(text: str, found: list[str]) -> None:
    assert [str(recipient) for recipient in read_recipients(text)] == found
    assert read_recipients(", ".join(found)) == read_recipients(text)


@pytest.mark.parametrize(
    "text",
    ["mary", "Mary <>", "a@b@c", "a@x.org b@x.org", "ä@x.org", "<a@x.org", "a@", "x" * 20_001],
)
def test_what_is_no_recipient_is_said(text: str) -> None:
    with pytest.raises(TapestryError):
        read_recipients(text)


def test_too_many_recipients() -> None:
    with pytest.raises(TapestryError, match="101 recipients; a message may have 100"):
        read_recipients(", ".join(f"{number}@x.org" for number in range(101)))
