"""Whatever bytes come as mail, they become a row that the tables take, and cost no more."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.core.message import LONGEST_TEXT
from tapestry.core.schema import MESSAGES
from tapestry.ingest.archive.files import count_messages, open_archive_source
from tapestry.ingest.parse import UNREADABLE, parse
from tapestry.tables.read.originals import Original, originals_to_arrow
from tapestry.tables.rows import arrow_schema, to_arrow
from tests.support.fuzzing import SECONDS, fuzz, mail_seeds, mutated
from tests.support.work import SECOND, counted

CALLS = SECOND
"""Calls that a message may take, however it is written."""

NOW = 1_774_000_000_000_000
TOKENS = [
    *(b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\x85"),
    *(b"=?", b"?=", b"=?utf-8?b?//4=?=", b"=?utf-8?q?=00=ED=A0=80?=", b"=?x-unknown?q?a?="),
    *(b"=?utf-7?q?+AAA?=", b"=?idna?q?xn--a?=", b"=?punycode?b?/w==?=", b"=?unicode_escape?q?\\?="),
    *(b"Content-Type: multipart/mixed; boundary=b\n", b"--b\n", b"--b--\n", b"boundary=\"\""),
    *(b"Content-Type: text/html; charset=\xff\n", b"; charset=utf-16", b"; charset*0*=a''%ff"),
    *(b"Content-Type: message/rfc822\n\n", b"Content-Transfer-Encoding: base64\n", b"<style>"),
    *(b"Content-Transfer-Encoding: uuencode\n", b"begin 644 a\n", b"=E9", b"=\n", b"<![CDATA["),
    *(b"From: ", b"<a@b>", b"(((", b")", b'"', b"\\", b",", b":", b";", b"<", b">", b"@"),
    *(b"Date: Mon, 99 Foo 99999 99:99:99 +9999\n", b"Date: ", b"-0000", b"1 Jan 0001 00:00 +2359"),
    *(b"Message-ID: <", b"References: ", b"In-Reply-To: ", b"List-Id: <", b"Newsgroups: ,,"),
    *(b"Received: from x; ", b"From joe  Fri Jan  2 14:26:52 2004\n", b" ", b"\t", b"a" * 70_000),
]  # fmt: skip
SEEDS = mail_seeds()
MAIL = mutated(SEEDS, TOKENS)


def check_message(raw: bytes) -> None:
    with counted() as work:
        parsed = parse(raw, now=NOW)
    assert work.calls < CALLS + 200 * len(raw), work.calls
    assert UNREADABLE not in parsed.problems, parsed.problems
    assert len(parsed.message.body or "") <= LONGEST_TEXT
    assert (parsed.message.received or 0) <= NOW
    rows = to_arrow(MESSAGES, [parsed.message])
    rows.validate(full=True)
    assert rows.schema.equals(arrow_schema(MESSAGES))
    originals_to_arrow(rows, [Original(raw, parsed.problems)]).validate(full=True)


def check_archive(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        source = open_archive_source(str(path), "public", lambda _source: None)
        for item in source.items:
            if item.message is not None:
                parse(item.message.raw, now=NOW)
        count_messages(path)
    except TapestryError as error:
        assert error.message and error.hint


def archives() -> st.SearchStrategy[tuple[str, bytes]]:
    """Draw an mbox of mutated mail, or a packed one in which the packing is changed."""
    first = b"From joe@x.org  Fri Jan  2 14:26:52 2004\n"
    boxes = st.lists(MAIL, max_size=4).map(lambda mail: first + (b"\n\n" + first).join(mail))
    packed = [
        (name, pack(b"".join(first + raw + b"\n\n" for raw in SEEDS[:3])))
        for name, pack in (
            ("a.gz", gzip.compress),
            ("a.bz2", bz2.compress),
            ("a.xz", lzma.compress),
        )
    ]
    changed = st.sampled_from(packed).flatmap(
        lambda file: st.tuples(st.just(file[0]), mutated([file[1]], [b"\0", b"\xff", first]))
    )
    plain = st.tuples(st.sampled_from(("a.mbox", "a.eml", "a")), boxes)
    return plain | changed


def test_any_bytes_become_a_row():
    fuzz(MAIL, check_message)


def test_any_archive_is_read_or_refused(tmp_path):
    fuzz(archives(), lambda file: check_archive(tmp_path / file[0], file[1]))


@pytest.mark.long
def test_any_bytes_become_a_row_for_minutes():
    fuzz(MAIL, check_message, SECONDS)


@pytest.mark.long
def test_any_archive_is_read_or_refused_for_minutes(tmp_path):
    fuzz(archives(), lambda file: check_archive(tmp_path / file[0], file[1]), SECONDS)
