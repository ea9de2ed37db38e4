"""A writer that has lost the clock's lock, and does not know yet, commits nothing any more.

So it is where a machine was paused, or its connection to the database ended.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import Cursor, advance_watermark, append_messages, cursor_of
from tests.support.all_rows import all_rows
from tests.support.clocks import MemoryClock


class LosableClock(MemoryClock):
    """A clock that another may lock although it is locked."""

    @contextmanager
    def lock(self):
        self._lock.release() if self.is_held else None
        self._lock.acquire()
        yield self

    def confirm(self):
        """The lock is there when it is asked, and lost a moment later."""

    def advance(self, to):
        self.last = max(self.last, to)


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


def take_in(tables, clock):
    return append_messages(tables, clock, [Message("m1")], Cursor("inbox", 1))


@pytest.mark.parametrize("links", [0, 1])
def test_what_another_has_taken_in_meanwhile_is_there_once(tables, monkeypatch, links):
    clock, link, turns = LosableClock(), os.link, []
    append_messages(tables, clock, [Message("m0")])

    def paused(*paths):
        turns.append(paths)
        if len(turns) == links + 1:
            take_in(tables, clock)
            advance_watermark(tables, clock)
        return link(*paths)

    monkeypatch.setattr(os, "link", paused)
    with pytest.raises(TapestryError, match="cannot be written"):
        take_in(tables, clock)
    assert sorted(row["msgid"] for row in all_rows(tables, MESSAGES)) == ["m0", "m1"]
    assert cursor_of(tables, "inbox") == Cursor("inbox", 1)


def test_nothing_becomes_visible_before_a_watermark_of_another(tables, monkeypatch):
    clock, link, marks = LosableClock(), os.link, []
    append_messages(tables, clock, [Message("m0")])

    def paused(*paths):
        if not marks:
            marks.append(advance_watermark(tables, clock))
        return link(*paths)

    monkeypatch.setattr(os, "link", paused)
    with pytest.raises(TapestryError, match="cannot be written"):
        take_in(tables, clock)
    assert [row["msgid"] for row in all_rows(tables, MESSAGES)] == ["m0"]
    take_in(tables, clock)
    newest = [row["ts"] for row in all_rows(tables, MESSAGES) if row["msgid"] == "m1"]
    assert newest > marks


def test_a_lock_that_is_known_to_be_lost_commits_nothing(tables, monkeypatch):
    clock = LosableClock()

    def lost():
        raise ConnectionError

    monkeypatch.setattr(clock, "confirm", lost)
    with pytest.raises((ConnectionError, TapestryError)):
        take_in(tables, clock)
    assert not tables.data_files(MESSAGES)
    assert not list((tables.root / MESSAGES).glob("*.parquet"))
