"""What fails is tried again as the same delivery, or given up after three days; nothing is lost."""

from __future__ import annotations

from datetime import date

import pytest

from filters.authoring.models import Filter
from filters.delivery import sending
from filters.delivery.dispatch import claims, holder
from filters.delivery.dispatch.claims import Attempt
from filters.delivery.models import Delivery, Destination
from filters.delivery.ways.way import MAIL
from filters.people.models import User
from filters.runs.store.release import release
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.deliver.batch import Outcome
from tapestry.deliver.timing.backoff import FEWEST, GIVE_UP
from tests.support.delivery.recorded_way import Recorder, Store, change_way
from tests.support.delivery.turn import fresh, turn


def test_a_failure_is_repeated_as_the_same_delivery(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    way.outcome = Outcome("retry", "The server is busy.")
    turn()
    store(jones, "two")
    turn()
    assert fresh(hook).error == "The server is busy."
    assert hook.due_at is not None and hook.due_at > wall_clock()
    way.outcome = Outcome("delivered")
    Destination.objects.update(due_at=wall_clock())
    turn()
    keys = [batch.key for batch in way.batches]
    assert keys[0] == keys[1] != keys[2]
    assert way.delivered == [("insert", "one"), ("insert", "one"), ("insert", "two")]
    assert (fresh(hook).failures, hook.error) == (0, "")
    states = list(Delivery.objects.values_list("state", flat=True))
    assert states == ["delivered", "delivered", "retry"]


def test_a_refusal_turns_the_destination_off_and_loses_nothing(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    way.outcome = Outcome("refused", "It is gone.")
    turn()
    assert not fresh(hook).active
    way.outcome = Outcome("delivered")
    turn()
    assert len(way.batches) == 1
    Destination.objects.update(active=True, due_at=wall_clock())
    turn()
    assert [batch.key for batch in way.batches] == [way.batches[0].key] * 2


def test_what_fails_for_three_days_is_turned_off_and_loses_nothing(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    way.outcome = Outcome("retry", "No room.")
    turn()
    assert (fresh(hook).failures, hook.cursor) == (1, 0)
    assert hook.failing_since is not None
    Destination.objects.update(failing_since=wall_clock() - GIVE_UP, due_at=wall_clock())
    turn()
    assert fresh(hook).active, "the clock alone turns nothing off"
    Destination.objects.update(failures=FEWEST - 1, due_at=wall_clock())
    turn()
    assert not fresh(hook).active
    assert hook.error == f"{sending.TURNED_OFF} No room."
    way.outcome = Outcome("delivered")
    store(jones, "two")
    turn()
    assert len(way.batches) == 3
    Destination.objects.update(active=True, due_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "one")] * 4 + [("insert", "two")]
    assert len({batch.key for batch in way.batches[:4]}) == 1
    assert fresh(hook).error == ""


def test_our_own_mail_server_is_tried_for_ever(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_way(monkeypatch, "webhook", send=way.send, preview=way.preview, queue=MAIL)
    store(jones, "one")
    way.outcome = Outcome("retry", "It does not answer.")
    turn()
    Destination.objects.update(failing_since=wall_clock() - 2 * GIVE_UP, due_at=wall_clock())
    turn()
    assert fresh(hook).active
    assert hook.due_at is not None and hook.due_at > wall_clock()


def test_the_other_side_says_how_long_to_wait(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    way.outcome = Outcome("retry", "Slow down.", retry_after=3600.0)
    before = wall_clock()
    turn()
    due_at = fresh(hook).due_at
    assert due_at is not None
    assert before + HOUR <= due_at <= wall_clock() + HOUR


def test_a_delivery_that_gets_on_is_not_given_up(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    for number in range(3):
        store(jones, f"m{number}")
    release()
    began = wall_clock() - 3 * GIVE_UP
    Destination.objects.update(failures=9, failing_since=began)
    with holder.claiming() as name:
        [held] = claims.claim(name, [hook.pk])
    assert claims.advance(held.destination, 2)
    assert (fresh(hook).failures, hook.failing_since, hook.cursor) == (0, None, 2)
    assert claims.fail(Attempt(held, Outcome("retry")), 0.0)
    assert (fresh(hook).failures, hook.claimed_until) == (1, 3)
    assert hook.failing_since is not None and hook.failing_since > began


def test_where_the_server_can_be_asked_what_comes_later_is_tried(
    jones: Filter,
    hook: Destination,
    store: Store,
    way: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So a message that is refused for ever holds up no other."""
    change_way(monkeypatch, "webhook", reopens=True)
    store(jones, "poison")
    way.outcome = Outcome("retry", "No.")
    turn()
    store(jones, "two")
    way.outcome = Outcome("delivered")
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert [match.msgid for match in way.batches[-1].matches] == ["poison", "two"]
    assert (fresh(hook).cursor, hook.failures, len(way.batches)) == (2, 0, 2)


def test_nothing_is_sent_in_a_holiday_though_it_failed_before(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    way.outcome = Outcome("retry", "Busy.")
    turn()
    User.objects.update(holiday_until=date(8000, 1, 1))
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert len(way.batches) == 1
    assert fresh(hook).due_at is not None and hook.due_at > wall_clock() + 9 * DAY
    User.objects.update(holiday_until=None)
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert len({batch.key for batch in way.batches}) == 1 < len(way.batches)
