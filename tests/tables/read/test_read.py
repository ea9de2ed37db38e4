"""What a page reads: messages, cards, annotations; each only for its audiences."""

from __future__ import annotations

import shutil

import pytest

from tapestry.core.clock import MINUTE
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import forget
from tapestry.tables.keys.hash_runs import (
    BY_AUDIENCE,
    extend_index,
    extend_index_if_behind,
    index_runs,
)
from tapestry.tables.read import find
from tapestry.tables.read.find import by_key, newest_after
from tapestry.tables.read.messages import Card, annotations_on, cards, copies, lookup, message
from tapestry.tables.read.originals import Original, original
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.clocks import MemoryClock

PUBLIC = ("public",)
JOE = ("public", "user:joe")


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


@pytest.fixture
def clock():
    return MemoryClock()


def test_a_message_is_read_back_as_it_was(tables, clock):
    whole = Message(
        "a", 1, "joe@x.org", "Joe", ("ann@x.org",), ("Ann",), ("bob@x.org",), ("Bob B.",), "Hi",
        ("comp.misc",), "l.x.org", "p", ("q", "p"), "Text", 99, 2, ("a.pdf",), ("a/b",),
        ("fs/a.c",), 0, 3, "reply", "here", received=4,
    )  # fmt: skip
    append_messages(tables, clock, [whole], now=lambda: 5)
    row = message(tables, "a", PUBLIC)
    assert (row.ts, row.message) == (6, whole)
    assert message(tables, "b", PUBLIC) is None


def test_nobody_reads_mail_that_is_not_theirs(tables, clock):
    append_messages(tables, clock, [Message("a", audience="user:joe")])
    append_annotations(tables, clock, [Annotation("v", "a", "joe", "vote", audience="user:joe")])
    assert message(tables, "a", PUBLIC) is None
    assert message(tables, "a", ("public", "user:ann")) is None
    assert message(tables, "a", ()) is None
    assert cards(tables, ["a"], PUBLIC) == {}
    assert annotations_on(tables, ["a"], PUBLIC) == []
    assert message(tables, "a", JOE).message.audience == "user:joe"
    assert [row.annotation.annid for row in annotations_on(tables, ["a"], JOE)] == ["v"]


def test_the_newest_rows_are_told_by_the_bounds_of_files(tables, clock):
    for received in (30, 10, 20):
        append_messages(tables, clock, [Message(f"{received}", received=received)])
    files = tables.data_files("messages")
    after = [newest_after(files, "received", most) for most in range(4)]
    assert after == [30, 20, 10, None]


def test_of_several_copies_that_which_fewest_may_see_is_shown(tables, clock):
    whose = ("public", "group:parc", "user:joe")
    for audience in whose:
        append_messages(tables, clock, [Message("a", subject=audience, audience=audience)])
    assert [copy.audience for copy in copies(tables, "a", whose)] == [*reversed(whose)]
    assert [copy.audience for copy in copies(tables, "a", JOE)] == ["user:joe", "public"]
    for seen in (JOE, whose[:2], PUBLIC):
        narrowest = seen[-1]
        assert message(tables, "a", seen).message.subject == narrowest
        assert cards(tables, ["a"], seen)["a"].subject == narrowest


def test_cards_hold_what_a_list_shows(tables, clock):
    sent = [Message("a", 3, "joe@x.org", "Joe", subject="Hi"), Message("b"), Message("c")]
    append_messages(tables, clock, sent, now=lambda: 5)
    assert cards(tables, ["a", "b", "nowhere"], PUBLIC) == {
        "a": Card("a", 6, 6, 3, "joe@x.org", "Joe", "Hi"),
        "b": Card("b", 6, 6, None, None, None, None),
    }
    assert cards(tables, [], PUBLIC) == {}


def test_annotations_come_oldest_first(tables, clock):
    for name in ("x", "y", "z"):
        append_annotations(tables, clock, [Annotation(name, "a", "joe", "tag", name)])
    found = annotations_on(tables, ["a"], PUBLIC)
    assert [row.annotation.annid for row in found] == ["x", "y", "z"]
    assert found[0].annotation == Annotation("x", "a", "joe", "tag", "x")


def test_a_message_among_many_of_one_ts_is_found_in_one_row_group(tables, clock, monkeypatch):
    mail = [Message(f"{n:05}", received=n * MINUTE, body=f"text {n}") for n in range(4000)]
    raws = [Original(b"Subject: %d" % n) for n in range(4000)]
    append_messages(tables, clock, mail, originals=raws)
    extend_index(tables, "messages")
    read = []

    def counting(path, numbers, fields, read_row_groups=find._read_row_groups):
        read.append(len(numbers))
        return read_row_groups(path, numbers, fields)

    monkeypatch.setattr(find, "_read_row_groups", counting)
    monkeypatch.setattr(find, "_kept", counting)
    files = tables.data_files("messages")
    found = by_key(files, tables.root, "messages", "msgid", {"02345"}, ["received"])
    assert found["received"].to_pylist() == [2345 * MINUTE]
    copy = copies(tables, "02345", {"public"})[0]
    assert original(tables, "02345", copy).raw == b"Subject: 2345"
    assert message(tables, "02345", {"public"}).message.body == "text 2345"
    assert read == [1] * len(read)


@pytest.mark.parametrize("column", ["msgid", "inreplyto"])
def test_rows_of_others_are_not_even_read(tmp_path, monkeypatch, column):
    """To find out that others have a message takes as long as that nobody has it."""
    tables, clock = Tables(tmp_path), MemoryClock()
    for audience in ("user:joe", "user:ann"):
        row = Message("theirs", inreplyto="parent", audience=audience)
        append_messages(tables, clock, [row])
    extend_index(tables, "messages")
    value = "theirs" if column == "msgid" else "parent"
    joe, bob = (["public", f"user:{name}"] for name in ("joe", "bob"))
    assert len(lookup(tables, "messages", column, [value], joe, ["msgid"])) == 1
    monkeypatch.setattr(find, "_read", None)
    assert lookup(tables, "messages", column, [value], bob, ["msgid"]) == []


def test_rows_are_found_while_the_mail_of_others_is_forgotten(tmp_path, monkeypatch):
    tables, clock = Tables(tmp_path), MemoryClock()
    append_messages(tables, clock, [Message("mine"), Message("theirs", audience="user:joe")])

    def late(files, *arguments, **options):
        monkeypatch.undo()
        forget(tables, clock, "user:joe")
        return by_key(files, *arguments, **options)

    monkeypatch.setattr("tapestry.tables.read.messages.by_key", late)
    assert len(lookup(tables, "messages", "msgid", ["mine"], PUBLIC, ["msgid"])) == 1


def test_rows_are_found_where_the_index_by_audience_is_older(tmp_path):
    """It may be missing, until the index is extended."""
    tables, clock = Tables(tmp_path), MemoryClock()
    append_messages(tables, clock, [Message("m", audience="user:joe")])
    extend_index(tables, "messages")
    shutil.rmtree(index_runs(tables.root, "messages", f"msgid{BY_AUDIENCE}").directory)
    for audience, count in (("user:joe", 1), ("user:bob", 0)):
        assert len(lookup(tables, "messages", "msgid", ["m"], [audience], ["ts"])) == count
    extend_index_if_behind(tables, "messages")
    assert len(lookup(tables, "messages", "msgid", ["m"], ["user:joe"], ["ts"])) == 1
