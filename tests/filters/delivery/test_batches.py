"""Which matches a destination is sent, once each, and which wait."""

from __future__ import annotations

from typing import Any

import pytest

from filters.authoring.models import Filter
from filters.delivery import sequence
from filters.delivery.dispatch import claims
from filters.delivery.models import Address, Destination, Subscription
from filters.delivery.ways.way import MAIL, OUTBOUND
from filters.inbox.models import Match, Mute
from filters.people.models import User
from filters.runs.models import ReleaseCounter
from filters.runs.store.release import release
from filters.runs.store.schedule import HELD
from tapestry.core.clock import DAY, HOUR, wall_clock
from tests.support.delivery.recorded_way import Recorder, Store, change_way
from tests.support.delivery.turn import fresh, turn


def test_every_match_is_delivered_once(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    for number in range(7):
        store(jones, f"m{number}")
        if number in (2, 3):
            turn()
    turn()
    assert way.delivered == [("insert", f"m{number}") for number in range(7)]
    assert max(len(batch.matches) for batch in way.batches) == 3
    assert len({batch.key for batch in way.batches}) == len(way.batches)
    assert (fresh(hook).cursor, hook.holder, hook.due_at) == (7, "", None)
    turn()
    assert len(way.delivered) == 7


def test_what_waits_for_its_time_is_not_delivered_before(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    later = store(jones, "later", shown_at=wall_clock() + HOUR)
    store(jones, "now")
    turn()
    assert way.delivered == [("insert", "now")]
    Match.objects.filter(pk=later.pk).update(shown_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "now"), ("insert", "later")]


def test_what_waits_until_the_list_is_read_is_delivered_then(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    Filter.objects.update(while_unread=True)
    first = store(jones, "first")
    store(jones, "second", shown_at=HELD)
    turn()
    assert way.delivered == [("insert", "first")]
    Match.objects.filter(pk=first.pk).update(read_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "first"), ("insert", "second")]


def test_a_match_without_a_card_waits_for_it(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    bare = store(jones, "bare")
    card = bare.card
    Match.objects.filter(pk=bare.pk).update(card=None)
    turn()
    assert way.delivered == []
    Match.objects.filter(pk=bare.pk).update(card=card)
    release()
    Match.objects.filter(pk=bare.pk).update(refreshed_at=None)
    turn()
    assert way.delivered == [], "its evidence is being copied again"
    Match.objects.filter(pk=bare.pk).update(refreshed_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "bare")]


def test_a_destination_takes_the_filters_it_subscribed_to(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    other = Filter.objects.create(owner=alice, name="other", text="x")
    Destination.objects.update(all_filters=False)
    store(jones, "before")
    turn()
    assert way.delivered == []
    Subscription.objects.create(destination=hook, filter=jones, since=ReleaseCounter.position())
    store(jones, "after")
    store(other, "elsewhere")
    turn()
    assert way.delivered == [("insert", "after")]


def test_nobody_is_sent_what_they_may_not_see(
    bob: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "secret", audience="user:bob")
    store(jones, "mine", audience="user:alice")
    store(Filter.objects.create(owner=bob, name="b", text="x"), "of bob")
    turn()
    assert way.delivered == [("insert", "mine")]


def test_what_leaves_a_live_filter_is_delivered_as_a_retraction(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    match = store(jones, "one")
    turn()
    Match.objects.filter(pk=match.pk).update(retracted_at=wall_clock(), sequence=None)
    turn()
    assert way.delivered == [("insert", "one"), ("delete", "one")]


def test_muted_threads_are_not_sent(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    Mute.objects.create(owner=alice, root="loud")
    store(jones, "reply", root="loud")
    store(jones, "other")
    turn()
    assert way.delivered == [("insert", "other")]


@pytest.mark.parametrize("queue", [OUTBOUND, MAIL])
def test_what_leaves_a_muted_thread_is_told_to_programs(
    queue: str,
    alice: User,
    jones: Filter,
    hook: Destination,
    store: Store,
    way: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change_way(monkeypatch, hook.kind, queue=queue)
    match = store(jones, "reply", root="loud")
    turn()
    Mute.objects.create(owner=alice, root="loud")
    Match.objects.filter(pk=match.pk).update(retracted_at=wall_clock(), sequence=None)
    turn()
    left = [("delete", "reply")] if queue == OUTBOUND else []
    assert way.delivered == [("insert", "reply"), *left]


def test_mail_goes_to_confirmed_addresses_only(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    address = Address.objects.create(owner=alice, email="al@example.org")
    Destination.objects.update(address=address)
    store(jones, "one")
    turn()
    assert way.delivered == []
    Address.objects.update(confirmed_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "one")]


def test_a_released_match_that_is_copied_again_is_waited_for_however_old(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    old = wall_clock() - 9 * DAY
    weekly = store(jones, "weekly", stored_at=old, matched_at=old)
    release()
    Match.objects.filter(pk=weekly.pk).update(card=None, refreshed_at=None)
    turn()
    assert sequence.after(jones, 0, 10) == ((), None)
    Match.objects.filter(pk=weekly.pk).update(card=weekly.card, refreshed_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "weekly")]
    assert [match.msgid for match in sequence.after(jones, 0, 10)[0]] == ["weekly"]


def test_a_match_that_goes_stale_after_the_claim_is_waited_for(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = store(jones, "one")
    claim = claims.claim

    def claim_and_lose_the_card(*arguments: Any) -> list[claims.Claim]:
        Match.objects.filter(pk=match.pk).update(card=None, refreshed_at=None)
        return claim(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(claims, "claim", claim_and_lose_the_card)
        turn()
    assert way.delivered == [] and fresh(hook).cursor == 0
    Match.objects.filter(pk=match.pk).update(card=match.card, refreshed_at=wall_clock())
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "one")]
