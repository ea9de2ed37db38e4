"""Names for completion: of the last read, and shown when no length of a read can be told."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from filters.people import known_names as reading
from filters.people.known_names import FRESH, KEPT, OLD, SHOWN_AFTER, begin_reading, known_names
from tapestry.core.errors import TapestryError
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.recent_names import Names

PUBLIC = ("public",)


class Clock:
    """A clock that only sleeping moves, and what was read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.reads: list[tuple[str, ...]] = []
        self.ended = threading.Event()
        self.ended.set()
        self.error: Exception | None = None
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(reading, "sleep", self.sleep)
        monkeypatch.setattr(reading, "wait", lambda read, _seconds: read[0].exception())
        monkeypatch.setattr(reading, "recent_names", self.read)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def read(self, _tables: Tables, audiences: tuple[str, ...]) -> Names:
        self.ended.wait(240)
        self.reads.append(audiences)
        if self.error is not None:
            raise self.error
        return Names(lists=(f"list {len(self.reads)}",))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path)


def test_the_first_are_shown_a_fixed_time_after_they_were_asked_for(
    clock: Clock, tables: Tables
) -> None:
    assert known_names(tables, PUBLIC).lists == ("list 1",)
    assert clock.now == 1000 + SHOWN_AFTER
    begin_reading(tables, ("public", "user:joe"))
    clock.now += 0.4
    assert known_names(tables, ("public", "user:joe")).lists == ("list 2",)
    assert clock.now == pytest.approx(1000 + 2 * SHOWN_AFTER)
    assert clock.reads == [PUBLIC, ("public", "user:joe")]


def test_names_of_long_ago_are_not_shown_again(clock: Clock, tables: Tables) -> None:
    known_names(tables, PUBLIC)
    clock.now += OLD + 1
    assert known_names(tables, PUBLIC).lists == ("list 2",)


def test_later_nobody_waits_and_new_ones_are_shown_as_late(clock: Clock, tables: Tables) -> None:
    known_names(tables, PUBLIC)
    clock.now += FRESH
    asked = clock.now
    clock.ended.clear()
    assert known_names(tables, PUBLIC).lists == ("list 1",)
    clock.ended.set()
    begin_reading(tables, PUBLIC).names.result(20)
    clock.now += 0.9 * SHOWN_AFTER
    assert known_names(tables, PUBLIC).lists == ("list 1",), "though they are read"
    clock.now = asked + SHOWN_AFTER
    assert known_names(tables, PUBLIC).lists == ("list 2",)
    assert len(clock.reads) == 2


@pytest.mark.parametrize("error", [TapestryError("damaged"), OSError()])
def test_tables_that_cannot_be_read_leave_what_was_known(
    clock: Clock, tables: Tables, error: Exception
) -> None:
    known_names(tables, PUBLIC)
    clock.now += FRESH
    clock.error = error
    begin_reading(tables, PUBLIC).names.exception(20)
    clock.now += SHOWN_AFTER
    assert known_names(tables, PUBLIC).lists == ("list 1",)
    assert known_names(tables, ("user:joe",)) == Names()


def test_as_many_are_kept_as_memory_is_meant_for(clock: Clock, tables: Tables) -> None:
    for number in range(KEPT + 1):
        begin_reading(tables, (f"user:{number}",)).names.result(20)
    begin_reading(tables, ("user:1",)).names.result(20)
    assert len(clock.reads) == KEPT + 1
    begin_reading(tables, ("user:0",)).names.result(20)
    assert len(clock.reads) == KEPT + 2
