"""Appends: one ts each, every row once, cursors in the same commit, crashes without harm."""

from __future__ import annotations

import resource
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read.messages import annotations_on, message
from tapestry.tables.write.append import (
    Cursor,
    Receipt,
    advance_watermark,
    append_annotations,
    append_messages,
    cursor_of,
)
from tests.support.clocks import MemoryClock
from tests.support.faults.append_steps import acting_after

PUBLIC = ("public",)


class CrashError(Exception):
    """The process dies here."""


@contextmanager
def crash_at(step, clock):
    """The clock for an append that dies as soon as it has done a step."""

    def crash():
        raise CrashError(step)

    with acting_after(step, crash, clock) as crashing:
        yield crashing


def stored(tables):
    """Every (msgid, audience, ts) there is, as read from the Parquet files themselves."""
    rows = tables.open("messages").to_pyarrow_table(columns=["msgid", "audience", "ts"])
    return sorted((row["msgid"], row["audience"], row["ts"]) for row in rows.to_pylist())


def stamps(tables):
    return {msgid: ts for msgid, _audience, ts in stored(tables)}


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


@pytest.fixture
def clock():
    return MemoryClock()


def test_a_batch_has_one_instant_later_than_the_clock(tables, clock):
    receipt = append_messages(tables, clock, [Message("a"), Message("b")], now=lambda: 5)
    assert receipt == Receipt(6, 2, 0)
    assert stamps(tables) == {"a": 6, "b": 6}
    assert clock.last == 6


def test_a_wall_clock_that_steps_back_does_no_harm(tables, clock):
    append_messages(tables, clock, [Message("a")], now=lambda: 100)
    append_messages(tables, clock, [Message("b")], now=lambda: 3)
    assert stamps(tables) == {"a": 101, "b": 102}


def test_a_message_is_recorded_once_for_each_audience(tables, clock):
    mine = Message("a", audience="user:joe")
    receipt = append_messages(tables, clock, [Message("a"), Message("a"), mine], now=lambda: 5)
    assert (receipt.added, receipt.duplicates) == (2, 1)
    receipt = append_messages(tables, clock, [mine, Message("b")], now=lambda: 9)
    assert (receipt.added, receipt.duplicates) == (1, 1)
    assert stored(tables) == [("a", "public", 6), ("a", "user:joe", 6), ("b", "public", 10)]


def test_an_annotation_is_recorded_once_and_shares_the_clock(tables, clock):
    append_messages(tables, clock, [Message("a")], now=lambda: 5)
    vote = Annotation("v", "a", "joe", "vote", number=1.0)
    assert append_annotations(tables, clock, [vote, vote], now=lambda: 0) == Receipt(7, 1, 1)
    assert append_annotations(tables, clock, [vote], now=lambda: 9) == Receipt(None, 0, 1)
    assert [row.ts for row in annotations_on(tables, ["a"], PUBLIC)] == [7]
    assert append_messages(tables, clock, [Message("b")], now=lambda: 0).ts == 8


def test_nothing_is_committed_for_nothing(tables, clock):
    assert append_messages(tables, clock, []) == Receipt(None, 0, 0)
    append_messages(tables, clock, [Message("a")])
    version = tables.open("messages").version()
    append_messages(tables, clock, [Message("a")])
    assert tables.open("messages").version() == version


def test_what_is_forbidden_by_then_under_the_lock_is_not_appended(tables, clock):
    append_messages(tables, clock, [Message("a")], Cursor("s", 1))

    def forbid():
        assert clock.is_held
        return True

    refused = append_messages(tables, clock, [Message("b")], Cursor("s", 2), forbidden=forbid)
    assert refused == Receipt(None, 0, 0, refused=True)
    assert append_annotations(
        tables, clock, [Annotation("v", "a", "joe", "vote")], forbidden=forbid
    ).refused
    assert [msgid for msgid, _, _ in stored(tables)] == ["a"]
    assert cursor_of(tables, "s") == Cursor("s", 1)
    assert annotations_on(tables, ["a"], PUBLIC) == []


def test_the_commit_carries_its_instant_for_people_to_read(tables, clock):
    append_messages(tables, clock, [Message("a")], now=lambda: 5)
    assert tables.open("messages").history(1)[0]["tapestry.ts"] == "6"


def test_a_cursor_that_is_not_newer_appends_nothing(tables, clock):
    append_messages(tables, clock, [Message("a")], Cursor("s", 10))
    again = append_messages(tables, clock, [Message("b")], Cursor("s", 10))
    assert again == Receipt(None, 0, 1)
    older = append_messages(tables, clock, [Message("b")], Cursor("s", 9))
    assert older.added == 0
    assert append_messages(tables, clock, [Message("b")], Cursor("other", 1)).added == 1
    assert cursor_of(tables, "s") == Cursor("s", 10)
    assert cursor_of(tables, "unheard of") is None


def test_a_cursor_is_kept_even_if_all_its_messages_are_known(tables, clock):
    append_messages(tables, clock, [Message("a")], Cursor("s", 1))
    before = clock.last
    receipt = append_messages(tables, clock, [Message("a")], Cursor("s", 2))
    assert (receipt, clock.last) == (Receipt(None, 0, 1), before)
    append_messages(tables, clock, [], Cursor("s", 3))
    assert cursor_of(tables, "s") == Cursor("s", 3)


def test_a_cursor_survives_a_checkpoint_and_the_commits_of_others(tables, clock):
    append_messages(tables, clock, [Message("a")], Cursor("s", 7))
    for n in range(102):
        append_messages(tables, clock, [Message(f"b{n}")], Cursor("t", n))
    assert list((tables.root / "messages" / "_delta_log").glob("*.checkpoint.parquet"))
    assert (cursor_of(tables, "s"), cursor_of(tables, "t")) == (Cursor("s", 7), Cursor("t", 101))
    assert len(snapshot(tables).messages) == 103


@pytest.mark.parametrize("place", ["locked", "read", "committed", "advanced"])
def test_a_crash_at_any_step_and_a_repeat_lose_and_double_nothing(tables, clock, place):
    append_messages(tables, clock, [Message("a")], Cursor("s", 1), now=lambda: 5)
    with pytest.raises(CrashError), crash_at(place, clock) as crashing:
        append_messages(tables, crashing, [Message("b")], Cursor("s", 2), now=lambda: 50)
    assert clock.last == 6, "the lock was released by an error"
    until = advance_watermark(tables, clock, now=lambda: 7)
    visible = {msgid for msgid, ts in stamps(tables).items() if ts <= until}
    append_messages(tables, clock, [Message("b")], Cursor("s", 2), now=lambda: 8)
    append_messages(tables, clock, [Message("c")], Cursor("s", 3), now=lambda: 8)
    assert [msgid for msgid, _audience, _ts in stored(tables)] == ["a", "b", "c"]
    # Nothing became visible behind the window that was read in between.
    assert all(ts > until for msgid, ts in stamps(tables).items() if msgid not in visible)


def test_a_run_reads_past_a_commit_whose_clock_was_lost(tables, clock):
    with pytest.raises(CrashError), crash_at("committed", clock) as crashing:
        append_messages(tables, crashing, [Message("a")], now=lambda: 1000)
    assert advance_watermark(tables, clock, now=lambda: 3) == 1001
    assert clock.last == 1001


def test_reading_until_bars_later_appends_from_its_window(tables, clock):
    until = advance_watermark(tables, clock, now=lambda: 500)
    assert until == 500
    assert append_messages(tables, clock, [Message("a")], now=lambda: 2).ts == 501


def test_what_arrow_cannot_hold_is_replaced(tables, clock):
    wild = Message("a\udc80", subject="x\0y\ud83d\ude00", to=("joe@x.org", "joe@x.org", "\udcff"))
    append_messages(tables, clock, [wild, Message("b", body="é" * 200_000)])
    kept = message(tables, "a\ufffd", PUBLIC).message
    assert (kept.subject, kept.to) == ("xy\U0001f600", ("joe@x.org", "\ufffd"))
    body = message(tables, "b", PUBLIC).message.body
    assert body == "é" * (128 * 1024)


def test_sets_are_empty_and_never_null(tables, clock):
    append_messages(tables, clock, [Message("a")])
    row = tables.open("messages").to_pyarrow_table().to_pylist()[0]
    assert [row[name] for name in ("to", "cc", "newsgroups", "references")] == [[], [], [], []]


STEPS = ["locked", "read", "committed", "advanced", None]


@settings(max_examples=25, deadline=None)
@given(
    ids=st.lists(st.integers(0, 12), min_size=1, max_size=24),
    cuts=st.lists(st.integers(1, 6), min_size=1),
    crashes=st.lists(st.sampled_from(STEPS)),
    walls=st.lists(st.integers(0, 60), min_size=1),
)
def test_any_batches_crashes_and_repeats_give_the_same_rows_once(
    tmp_path_factory, ids, cuts, crashes, walls
):
    tables, clock = Tables(tmp_path_factory.mktemp("law")), MemoryClock()
    instants, turn, start = [], 0, 0
    while start < len(ids):
        end = start + cuts[turn % len(cuts)]
        batch = [Message(f"m{n}") for n in ids[start:end]]
        before = tables.data_files("messages").newest
        place = crashes[turn] if turn < len(crashes) else None
        wall = walls[turn % len(walls)]
        turn += 1
        try:
            cursor = Cursor("stream", min(end, len(ids)))
            with crash_at(place, clock) as crashing:
                append_messages(tables, crashing, batch, cursor, now=lambda wall=wall: wall)
        except CrashError:
            # Started again, the reader goes on from the cursor that was committed.
            reached = cursor_of(tables, "stream")
            start = reached.version if reached else 0
        else:
            start = end
        after = tables.data_files("messages").newest
        if after != before:
            instants.append(after)
    rows = stored(tables)
    assert [row[0] for row in rows] == sorted({f"m{n}" for n in ids})
    assert instants == sorted(set(instants))
    assert sorted({ts for _msgid, _audience, ts in rows}) == instants


def test_a_disk_that_cannot_be_written_is_one_sentence(tables, clock):
    append_messages(tables, clock, [Message("a")], Cursor("s", 1))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        # As good as a full disk: the kernel refuses to write.
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
        with pytest.raises(TapestryError, match="New rows cannot be written"):
            append_messages(tables, clock, [Message("b")], Cursor("s", 2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert append_messages(tables, clock, [Message("b")], Cursor("s", 2)).added == 1


def test_an_append_is_one_line_of_the_log_without_a_word_of_mail(tables, clock, caplog):
    caplog.set_level("INFO", logger="tapestry.tables")
    messages = [Message("secret@x", subject="secret"), Message("secret@x", subject="secret")]
    append_messages(tables, clock, messages, Cursor("secret", 1), now=lambda: 5)
    append_messages(tables, clock, [Message("b")], Cursor("secret", 2), forbidden=lambda: True)
    first, second = (record.getMessage().rpartition(" seconds=")[0] for record in caplog.records)
    assert first == "append table=messages rows=1 duplicates=1 ts=6 refused=false"
    assert second == "append table=messages rows=0 duplicates=0 ts=null refused=true"
