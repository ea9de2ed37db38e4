"""The clock was hours ahead and is set back: no delivery waits for as long as it was ahead."""

from __future__ import annotations

import pytest

from filters.authoring.models import Filter
from filters.delivery.dispatch import claims
from filters.delivery.models import Address, Destination
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.models import Clock, Heartbeat
from tapestry.core.clock import DAY, HOUR, MINUTE, SECOND, parse_instant
from tapestry.deliver.batch import Outcome
from tests.support.delivery.recorded_way import Recorder, Store, change_way
from tests.support.delivery.turn import fresh, turn
from tests.support.faults.set_asides import Planted
from tests.support.set_clock import SetClock

AHEAD = 5 * HOUR


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """It is four in the morning, and the clock shows nine."""
    return SetClock(parse_instant("2026-07-01T04:00:00Z") + AHEAD, monkeypatch)


def shown_now(store: Store, filter_: Filter, msgid: str, now: int) -> None:
    names = ("matched_at", "stored_at", "shown_at", "refreshed_at")
    store(filter_, msgid, **dict.fromkeys(names, now))


def fail(store: Store, filter_: Filter, way: Recorder, clock: SetClock) -> None:
    """Have a delivery of a filter fail, and be put off for an hour."""
    way.outcome = Outcome("retry", "It is busy.", retry_after=HOUR / SECOND)
    shown_now(store, filter_, "one", clock.now)
    turn()


def test_what_failed_is_tried_again(
    jones: Filter, hook: Destination, store: Store, way: Recorder, clock: SetClock
) -> None:
    fail(store, jones, way, clock)
    turn()
    assert len(way.batches) == 1
    clock.now -= AHEAD
    turn()
    assert len(way.batches) == 2
    assert fresh(hook).due_at == clock.now + HOUR, "it is put off from now"
    turn()
    assert len(way.batches) == 2, "once"
    clock.now += HOUR
    way.outcome = Outcome("delivered")
    turn()
    assert way.delivered == [("insert", "one")] * 3


def test_what_failed_is_tried_again_though_the_clock_was_never_looked_at(
    jones: Filter, hook: Destination, store: Store, way: Recorder, clock: SetClock
) -> None:
    """As it is after an upgrade: rows are stamped by the one clock of the site alone."""
    fail(store, jones, way, clock)
    Heartbeat.objects.all().delete()
    Clock.objects.create(pk=1, last=clock.now)
    clock.now -= AHEAD
    turn()
    assert len(way.batches) == 2


def test_a_clock_that_is_set_back_a_little_changes_nothing(
    jones: Filter, hook: Destination, store: Store, way: Recorder, clock: SetClock
) -> None:
    fail(store, jones, way, clock)
    for step in (10 * SECOND, -30 * SECOND, MINUTE, -45 * SECOND):
        clock.now += step
        turn()
    assert len(way.batches) == 1


def test_quiet_hours_that_are_over_hold_up_nothing(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder, clock: SetClock
) -> None:
    User.objects.filter(pk=alice.pk).update(quiet_from=8 * 60, quiet_to=23 * 60, time_zone="UTC")
    shown_now(store, jones, "one", clock.now)
    turn()
    assert way.batches == [] and fresh(hook).due_at is not None
    clock.now -= AHEAD
    turn()
    assert way.delivered == [("insert", "one")]


def test_a_long_holiday_is_left_alone(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder, clock: SetClock
) -> None:
    User.objects.filter(pk=alice.pk).update(holiday_until="2027-01-01", time_zone="UTC")
    shown_now(store, jones, "one", clock.now)
    turn()
    end = fresh(hook).due_at
    assert end is not None and end > clock.now + 100 * DAY
    assert claims.due(["webhook"], 10) == []
    clock.now -= AHEAD
    turn()
    assert way.batches == [] and fresh(hook).due_at == end


@pytest.mark.parametrize("late", [0, 10 * MINUTE], ids=["at once", "behind a crowd"])
def test_a_digest_comes_at_the_next_of_its_times_from_now_on(
    alice: User,
    jones: Filter,
    store: Store,
    way: Recorder,
    clock: SetClock,
    monkeypatch: pytest.MonkeyPatch,
    late: int,
) -> None:
    change_way(monkeypatch, "digest", send=way.send, preview=way.preview)
    User.objects.filter(pk=alice.pk).update(time_zone="UTC")
    address = Address.objects.create(owner=alice, email="al@example.org", confirmed_at=1)
    daily = {"timeliness": "daily at 08:00", "timed_at": clock.now}
    digest = Destination.objects.create(
        owner=alice, kind="digest", name="d", address=address, settings=daily
    )
    shown_now(store, jones, "one", clock.now)
    turn()
    tomorrow = parse_instant("2026-07-02T08:00:00Z")
    assert fresh(digest).due_at == tomorrow
    clock.now -= AHEAD
    turn()
    assert way.batches == [] and fresh(digest).due_at == tomorrow - DAY
    clock.now = tomorrow - DAY + late
    turn()
    assert way.delivered == [("insert", "one")]


def test_what_is_shown_later_is_planned_anew_and_a_fault_costs_its_own_filter(
    alice: User, jones: Filter, store: Store, clock: SetClock, set_asides: Planted
) -> None:
    said = set_asides.expect()
    turn()
    User.objects.filter(pk=alice.pk).update(time_zone="UTC")
    Filter.objects.update(timeliness="daily at 08:00")
    broken = Filter.objects.create(owner=alice, name="b", text="x", timeliness="no time at all")
    tomorrow = parse_instant("2026-07-02T08:00:00Z")
    for filter_, msgid in ((jones, "one"), (broken, "two")):
        store(filter_, msgid, stored_at=clock.now, shown_at=tomorrow)
    seen = store(jones, "three", stored_at=clock.now, shown_at=clock.now + 1, sequence=7)
    clock.now -= AHEAD
    turn()
    assert Match.objects.get(msgid="one").shown_at == tomorrow - DAY
    assert fresh(seen).shown_at == clock.now + AHEAD + 1, "what was shown stays shown"
    assert [(kind, key) for kind, key, _ in said] == [("filter", f"{broken.pk}/release")]
    clock.now = tomorrow - DAY
    turn()
    assert Match.objects.get(msgid="one").sequence is not None
