"""What is removed for its age, while the clock jumps: years ahead, and back to what is right."""

from __future__ import annotations

from typing import Any

import pytest

from filters.delivery.models import KeptMail
from filters.people.models import User
from filters.runs import tasks
from filters.runs.models import Heartbeat, SetAside
from filters.runs.store.filter_store import DjangoClock
from filters.upkeep import retention
from tapestry.core.clock import DAY, HOUR, parse_instant
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import message
from tapestry.tables.write.append import append_messages
from tests.support.faults.set_asides import Planted
from tests.support.set_clock import SetClock

KEPT = DAY
YEARS = 3650 * DAY
KEY = "follow the clock"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, settings: Any) -> SetClock:
    settings.RETENTION = {"public": KEPT // DAY}
    return SetClock(parse_instant("2026-07-01T12:00:00Z"), monkeypatch)


@pytest.fixture
def stored(tables: Tables, alice: User, clock: SetClock) -> Tables:
    """A message that just came, a mail that was written to alice, and an hour of upkeep."""
    append_messages(tables, DjangoClock(), [Message("a@x")], now=lambda: clock.now)
    KeptMail.objects.create(owner=alice, message_id="k", recipient="a@x", raw=b"", at=clock.now)
    tasks.compact()
    return tables


def is_there(tables: Tables) -> bool:
    return message(tables, "a@x", ("public",)) is not None


def hours(clock: SetClock, number: int) -> None:
    """Let upkeep run each hour for so many hours."""
    for _ in range(number):
        clock.now += HOUR
        tasks.compact()


def test_a_clock_that_is_set_years_ahead_removes_nothing(
    stored: Tables, clock: SetClock, set_asides: Planted
) -> None:
    said = set_asides.expect()
    clock.now += YEARS
    hours(clock, 3)
    assert is_there(stored) and KeptMail.objects.exists()
    assert SetAside.objects.get().key == KEY
    assert "The clock is 3,649 days ahead of the last upkeep" in str(said[0][2])
    clock.now -= YEARS
    hours(clock, 1)
    assert is_there(stored) and not SetAside.objects.exists()
    hours(clock, KEPT // HOUR - 5)
    assert is_there(stored)
    hours(clock, 2)
    assert not is_there(stored), "it has its age"


def test_a_site_that_was_off_for_days_catches_up(
    stored: Tables, clock: SetClock, set_asides: Planted
) -> None:
    set_asides.expect()
    clock.now += 2 * DAY
    hours(clock, 1)
    assert is_there(stored) and SetAside.objects.get().key == KEY
    hours(clock, KEPT // retention.PACE)
    assert not is_there(stored)
    hours(clock, KEPT // retention.PACE)
    assert not SetAside.objects.exists()


def test_a_site_that_is_off_each_night_is_not_held_up(stored: Tables, clock: SetClock) -> None:
    for _ in range(2):
        clock.now += DAY - HOUR
        hours(clock, 1)
    assert not is_there(stored)


def test_a_clock_that_was_years_behind_is_believed_once_it_is_right(
    stored: Tables, clock: SetClock
) -> None:
    clock.now -= YEARS
    hours(clock, 2)
    clock.now += YEARS
    hours(clock, 1)
    assert Heartbeat.objects.get(pk=Heartbeat.UPKEEP).started_at == clock.now
    assert is_there(stored)


def test_the_first_run_believes_the_clock(db: None, clock: SetClock) -> None:
    assert retention.take_present() == clock.now == Heartbeat.objects.get().started_at
    clock.now -= HOUR
    assert retention.take_present() == clock.now, "nothing is younger than it is"
