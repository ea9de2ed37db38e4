"""No loops: what Tapestry sent is passed over, and the cursor goes on."""

from __future__ import annotations

import logging

import pytest

from tapestry.core.delivery_header import DELIVERY_HEADER, DeliverySigner
from tapestry.ingest.ingest_batch import Tally, ingest_batches
from tapestry.ingest.large_message import RawMessage
from tapestry.ingest.stream import Item, MessageStream
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import Cursor, cursor_of
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest, ingest_target

SIGNER = DeliverySigner(b"of this site")
OURS = SIGNER.has_signed


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path / "tables")


def letter(n, own=False):
    field = f"{DELIVERY_HEADER}: {SIGNER.value(f'1-{n}')}\n" if own else ""
    return f"{field}Message-ID: <{n}@x.org>\nFrom: joe@x.org\nSubject: number {n}\n\nHello\n"


def test_an_archive_is_ingested_without_them(tables, tmp_path, caplog):
    for n in range(5):
        (tmp_path / f"{n}.eml").write_text(letter(n, own=n % 2 == 0))
    with caplog.at_level(logging.INFO, "tapestry.ingest.command"):
        seen = []
        report = ingest(
            str(tmp_path),
            tables,
            MemoryClock(),
            progress=lambda done, total: seen.append(done),
            is_ours=OURS,
        )
    assert (report.read, report.added, report.skipped, seen[-1]) == (2, 2, 3, 5)
    assert "skipped=3" in caplog.text
    rows = tables.open("messages").to_pyarrow_table(columns=["msgid"])
    assert sorted(rows.column("msgid").to_pylist()) == ["1@x.org", "3@x.org"]


def test_an_archive_of_nothing_else_adds_nothing(tables, tmp_path):
    box = tmp_path / "box.mbox"
    box.write_text("".join(f"From joe Mon Nov 23 08:00:00 2026\n{letter(n, True)}\n" for n in "12"))
    report = ingest(str(box), tables, MemoryClock(), is_ours=OURS)
    assert (report.read, report.added, report.skipped) == (0, 0, 2)
    again = ingest(str(box), tables, MemoryClock(), is_ours=OURS)
    assert (again.read, again.added, again.skipped) == (0, 0, 0)


def test_the_cursor_passes_them(tables):
    items = [
        Item(RawMessage(letter(1).encode()), "box", Cursor("box", 1)),
        Item(RawMessage(letter(2).encode(), delivered=True), "box", Cursor("box", 2)),
        Item(RawMessage(letter(3, own=True).encode()), "box", Cursor("box", 3)),
    ]
    tally, read = Tally(), []
    target = ingest_target(
        tables,
        MemoryClock(),
        "public",
        progress=lambda done, total: read.append(done),
        is_ours=OURS,
    )
    stream = MessageStream("box", iter(items), lambda: len(items))
    assert ingest_batches(stream, target, tally)
    assert (tally.read, tally.skipped, tally.passed, read) == (1, 2, 3, [3])
    assert cursor_of(tables, "box") == Cursor("box", 3)


def test_a_batch_of_nothing_else_moves_the_cursor(tables):
    items = [Item(RawMessage(letter(1, own=True).encode()), "box", Cursor("box", 1))]
    tally = Tally()
    stream = MessageStream("box", iter(items), lambda: 1)
    assert ingest_batches(
        stream, ingest_target(tables, MemoryClock(), "public", is_ours=OURS), tally
    )
    assert tally == Tally(skipped=1)
    assert cursor_of(tables, "box") == Cursor("box", 1)


def test_without_a_cursor_they_are_counted_all_the_same(tables):
    tally = Tally()
    item = Item(RawMessage(letter(1, own=True).encode()), "box")
    stream = MessageStream("box", iter([item]), lambda: 1)
    assert ingest_batches(
        stream, ingest_target(tables, MemoryClock(), "public", is_ours=OURS), tally
    )
    assert tally == Tally(skipped=1)


def test_the_header_of_a_stranger_hides_nothing(tables, tmp_path):
    forged = DeliverySigner(b"of another site").value("1-2")
    for n, value in enumerate((forged, "1-2", "1-2; mac=")):
        (tmp_path / f"{n}.eml").write_text(f"{DELIVERY_HEADER}: {value}\n{letter(n)}")
    report = ingest(str(tmp_path), tables, MemoryClock(), is_ours=OURS)
    assert (report.added, report.skipped) == (3, 0)


FOOTER = "_______________________________________________\nall mailing list\n"


def from_list(head, n):
    """A message as a list sends it on, without headers that it does not know."""
    return f"{head}Subject: [all] number {n}\nList-Id: <all.x.org>\n\nHello\n{FOOTER}"


def ids(n, key="1-7", signer=SIGNER, of=None):
    resent = signer.resent_message_id(key, "site.org", letter(n if of is None else of).encode())
    return f"Resent-Message-ID:\n <{resent}>\nMessage-ID: <{n}@x.org>\n"


def test_what_a_list_sends_back_is_known_by_the_message_ids_of_this_site(tables, tmp_path):
    (tmp_path / "resent.eml").write_text(from_list(ids(1), 1))
    digest = f"Message-Id: <{SIGNER.message_id('1-8', 'site.org')}>\n"
    (tmp_path / "digest.eml").write_text(from_list(digest, 2))
    again = f"Resent-Message-ID: <2@other.org>\n{ids(3)}"
    (tmp_path / "again.eml").write_text(from_list(again, 3))
    report = ingest(str(tmp_path), tables, MemoryClock(), is_ours=OURS)
    assert (report.added, report.skipped) == (0, 3)


def test_the_message_ids_of_a_stranger_hide_nothing(tables, tmp_path):
    other = DeliverySigner(b"of another site")
    digest = SIGNER.message_id("1-8", "site.org")
    resent = SIGNER.resent_message_id("1-8", "site.org", letter(1).encode())
    heads = (
        ids(1, signer=other),
        ids(2, of=1),
        f"Message-ID: <{other.message_id('1-8', 'site.org')}>\n",
        f"Message-ID: <1-8.{'0' * 32}@site.org>\n",
        f"Message-ID: <4@x.org>\nIn-Reply-To: <{digest}>\nReferences: <{digest}>\n",
        f"Message-ID: <{resent}>\n",
        f"Resent-Message-ID: <{digest}>\nMessage-ID: <5@x.org>\n",
        f"X-Message-ID: <{digest}>\nMessage-ID: <6@x.org>\n",
    )
    for n, head in enumerate(heads):
        (tmp_path / f"{n}.eml").write_text(from_list(head, n))
    report = ingest(str(tmp_path), tables, MemoryClock(), is_ours=OURS)
    assert (report.added, report.skipped) == (len(heads), 0)
