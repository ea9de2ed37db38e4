"""What a process knows of a log is what delta-rs reads of it, whatever others did meanwhile."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.delta import log_state
from tapestry.tables.delta.commit import CHECKPOINT_EVERY, commit
from tapestry.tables.delta.data_files import data_files_of
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_state import LogState
from tapestry.tables.forget.forget import forget
from tapestry.tables.rows import stamped, to_arrow
from tapestry.tables.write.append import Cursor, append_messages, cursor_of
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path / "50% é #?")


@pytest.fixture
def clock():
    return MemoryClock()


class Another:
    """What another process knows of the log of messages."""

    def __init__(self, tables):
        self.tables = tables
        self.state = LogState(str(tables.root / "messages"))
        self.loads = 0

    def agrees(self, *sources):
        opened = self.tables.open("messages")
        expected = (opened.version(), data_files_of(opened))
        known = self.state.refresh(self.open)
        assert known == self.tables.version("messages") == expected
        assert known[1].low.tolist() == expected[1].low.tolist()
        assert known[1].high.tolist() == expected[1].high.tolist()
        for source in sources:
            version = opened.transaction_version(source)
            assert self.state.transaction(source, self.open) == version
            assert self.tables.transaction("messages", source) == version

    def open(self):
        self.loads += 1
        return self.tables.open("messages")


def append(tables, clock, n, source="s"):
    append_messages(tables, clock, [Message(f"m{n}", audience="user:joe")], Cursor(source, n))


STEPS = st.lists(
    st.sampled_from(["append", "append", "look", "compact", "forget", "checkpoint"]), max_size=8
)


@settings(max_examples=12, deadline=None)
@given(steps=STEPS)
def test_whatever_happens_to_a_log_both_know_the_same(tmp_path_factory, steps):
    tables, clock = Tables(tmp_path_factory.mktemp("law")), MemoryClock()
    another = Another(tables)
    for n, step in enumerate([*steps, "look"], start=1):
        if step == "append":
            append(tables, clock, n, f"s{n % 2}")
        elif step == "look":
            another.agrees("s0", "s1", "s2")
        elif step == "compact":
            compact(tables)
        elif step == "forget":
            forget(tables, clock, "user:joe")
        else:
            tables.open("messages").create_checkpoint()


def test_only_what_was_committed_since_is_read(tables, clock):
    another = Another(tables)
    for n in range(1, 6):
        append(tables, clock, n)
        another.agrees()
    compact(tables)
    another.agrees()
    assert another.loads == 1


def test_after_very_many_commits_the_checkpoint_is_read(tables, clock, monkeypatch):
    monkeypatch.setattr(log_state, "_MOST_COMMITS", 3)
    another = Another(tables)
    another.agrees()
    for n in range(1, 6):
        append(tables, clock, n)
    another.agrees("s")
    assert another.loads == 2


def test_a_log_that_was_made_anew_is_read_anew(tables, clock):
    another = Another(tables)
    for begin in (1, 11):
        for n in range(begin, begin + 3):
            append(tables, clock, n)
        another.agrees("s")
        shutil.rmtree(tables.root)


def test_a_log_whose_entries_are_gone_is_read_from_its_checkpoint(tables, clock):
    another = Another(tables)
    append(tables, clock, 1)
    another.agrees("s")
    append(tables, clock, 2)
    tables.open("messages").create_checkpoint()
    for entry in (tables.root / "messages" / "_delta_log").glob("*.json"):
        entry.unlink()
    another.agrees("s")
    append(tables, clock, 3)
    another.agrees("s")


def test_a_table_that_was_altered_is_checked_again(tables, clock):
    another = Another(tables)
    append(tables, clock, 1)
    another.agrees()
    tables.open("messages").alter.set_table_properties({"delta.enableChangeDataFeed": "true"})
    with pytest.raises(TapestryError, match="which Tapestry cannot write"):
        another.state.refresh(another.open)
    with pytest.raises(TapestryError, match="which Tapestry cannot write"):
        append(tables, clock, 2)


def test_an_entry_that_cannot_be_read_is_one_sentence(tables, clock):
    append(tables, clock, 1)
    log = tables.root / "messages" / "_delta_log"
    (log / "00000000000000000002.json").write_text("{ not json")
    with pytest.raises(TapestryError, match=r"00002\.json is damaged: it is cut short"):
        tables.data_files("messages")


def test_a_directory_that_is_in_the_way_is_one_sentence(tables, clock):
    append(tables, clock, 1)
    shutil.rmtree(tables.root)
    tables.root.write_text("in the way")
    with pytest.raises(TapestryError, match="cannot be opened"):
        tables.data_files("messages")


def test_a_number_that_another_process_took_is_passed_over(tables, clock, monkeypatch):
    append(tables, clock, 1)
    version = Tables.version
    rows = stamped("messages", to_arrow("messages", [Message("other")]), 7)
    turns = []

    def overtaken(self, table):
        before = version(self, table)
        turns.append(table)
        if len(turns) == 2:  # as it is about to take the next number
            commit(Tables(self.root), table, rows, {"other": 3}, {})
        return before

    monkeypatch.setattr(Tables, "version", overtaken)
    commit(
        tables,
        "messages",
        stamped("messages", to_arrow("messages", [Message("mine")]), 8),
        {"s": 2},
        {},
    )
    assert len(tables.data_files("messages")) == 3
    Another(tables).agrees("s", "other")
    assert not list((tables.root / "messages" / "_delta_log").glob("*.tmp"))


def test_a_checkpoint_comes_and_the_cursors_stay(tables, clock):
    append(tables, clock, 1, "first")
    log = tables.root / "messages" / "_delta_log"
    for n in range(CHECKPOINT_EVERY - 3):
        append(tables, clock, n)
    assert not list(log.glob("*.checkpoint.parquet"))
    append(tables, clock, CHECKPOINT_EVERY)
    assert len(list(log.glob("*.checkpoint.parquet"))) == 1
    Another(tables).agrees("first", "s")
    assert cursor_of(tables, "first") == Cursor("first", 1)
