"""Claimed, sent, confirmed: every released match goes to a destination once."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.db.models import Model
from support.recorded_way import Recorder, Store

from filters.delivery import claims, history, holder, sending, sequence
from filters.delivery.claims import Attempt
from filters.delivery.ways import table as ways
from filters.models import (
    Address,
    Delivery,
    Destination,
    Filter,
    Match,
    Mute,
    Profile,
    ReleaseCounter,
    Subscription,
)
from filters.store.release import release
from filters.store.schedule import HELD
from tapestry.core.clock import DAY, HOUR, MINUTE, wall_clock
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.timing.backoff import GIVE_UP

ALL = {"webhook": 3}

Row = TypeVar("Row", bound=Model)


def turn() -> None:
    """Release what has come due, and deliver to all that are due."""
    release()
    sending.deliver(list(ways.WAYS), 10)


def fresh(row: Row) -> Row:
    row.refresh_from_db()
    return row


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


def test_two_workers_never_hold_one_destination(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    release()
    with holder.claiming() as name, holder.claiming() as other:
        [held] = claims.claim(name, [hook.pk], ALL)
        assert claims.claim(other, [hook.pk], ALL) == []
        assert claims.free_abandoned() == 0, "this process is alive"
        assert claims.due(["webhook"], 100) == []
        done = [Attempt(held, Outcome("delivered"))]
        assert claims.confirm(done) == {hook.pk}
        assert claims.confirm(done) == set(), "it is held no more"


def test_claims_confirmed_together_are_fenced_each(
    jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    other = Destination.objects.create(owner=jones.owner, kind="webhook", name="other")
    store(jones, "one")
    release()
    with holder.claiming() as name:
        held = claims.claim(name, [hook.pk, other.pk], ALL)
        Destination.objects.filter(pk=hook.pk).update(holder="another:1")
        done = [Attempt(claim, Outcome("delivered"), {jones.pk: 1}) for claim in held]
        assert claims.confirm(done) == {other.pk}
    assert (fresh(hook).cursor, hook.claimed_until, hook.holder) == (0, 1, "another:1")
    assert (fresh(other).cursor, other.claimed_until, other.holder) == (1, None, "")
    assert [row.destination for row in Delivery.objects.all()] == [other]


def test_what_was_sent_is_confirmed_when_the_worker_is_told_to_end(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Destination.objects.create(owner=jones.owner, kind="webhook", name="other")
    store(jones, "one")

    def send(destination: Destination, batch: Batch) -> Outcome:
        if way.batches:
            raise SystemExit
        return Recorder.send(way, destination, batch)

    monkeypatch.setitem(ways.WAYS, "webhook", ways.Way(send, way.preview, ways.OUTBOUND, 3))
    with pytest.raises(SystemExit):
        turn()
    assert sorted([fresh(hook).cursor, fresh(other).cursor]) == [0, 1]


def test_a_claim_that_an_error_left_behind_is_free_again(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(jones, "one")
    with monkeypatch.context() as patch, pytest.raises(OperationalError):
        patch.setattr(claims, "confirm", _no_database)
        turn()
    assert fresh(hook).holder
    store(jones, "two")
    turn()
    keys = [batch.key for batch in way.batches]
    assert keys[0] == keys[1] != keys[2], "what was sent is repeated as the same delivery"


def _no_database(*_: object) -> bool:
    raise OperationalError("database is locked")


@pytest.mark.django_db(transaction=True)
def test_the_claim_of_a_process_that_ends_is_free_again(
    jones: Filter, hook: Destination, store: Store, way: Recorder, data: Path
) -> None:
    store(jones, "one")
    release()
    ended = f"{'0' * 32}:1"
    Destination.objects.update(holder=ended, claimed_until=1, due_at=None)
    assert not holder.is_alive(ended)
    assert claims.free_abandoned() == 1
    store(jones, "two")
    turn()
    assert way.delivered == [("insert", "one"), ("insert", "two")]
    assert len(way.batches) == 2, "what had been claimed is a delivery of its own"


def test_the_lock_of_a_holder_ends_with_its_process(data: Path, settings: object) -> None:
    program = (
        "import sys; from pathlib import Path; from tapestry.core.file_lock import shared_lock\n"
        "with shared_lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    path = data / "run" / "deliveries" / "abc.lock"
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "held\n"
    assert holder.is_alive("abc:4")
    process.kill()
    process.wait()
    process.stdout.close()
    process.stdin.close()
    assert not holder.is_alive("abc:4")


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


def test_the_newest_do_not_wait_behind_all_that_was_due_before(
    alice: User, hook: Destination
) -> None:
    now = wall_clock()
    for number in range(5):
        Destination.objects.create(
            owner=alice, kind="webhook", name=f"{number}", due_at=now - MINUTE + number
        )
    Destination.objects.filter(pk=hook.pk).update(due_at=now)
    keys = claims.due(["webhook"], 2)
    assert keys[0] == hook.pk and len(keys) == 2
    assert len(claims.due(["webhook"], 100)) == 6
    assert claims.due(["digest"], 100) == []


def test_the_latest_deliveries_and_those_of_a_week_are_kept(alice: User, hook: Destination) -> None:
    quiet = Destination.objects.create(owner=alice, kind="webhook", name="quiet")
    now = wall_clock()
    for destination, days, count in ((hook, 30, 15), (hook, 1, 12), (quiet, 30, 15)):
        for _ in range(count):
            Delivery.objects.create(destination=destination, at=now - days * DAY, state="retry")
    assert history.prune() == 20
    assert (hook.deliveries.count(), quiet.deliveries.count()) == (12, history.SHOWN)
    assert history.prune() == 0


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
    assert not fresh(hook).active
    assert hook.error == f"{sending.TURNED_OFF} No room."
    way.outcome = Outcome("delivered")
    store(jones, "two")
    turn()
    assert len(way.batches) == 2
    Destination.objects.update(active=True, due_at=wall_clock())
    turn()
    assert way.delivered == [("insert", "one")] * 3 + [("insert", "two")]
    assert len({batch.key for batch in way.batches[:3]}) == 1
    assert fresh(hook).error == ""


def test_our_own_mail_server_is_tried_for_ever(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ways.WAYS, "webhook", ways.Way(way.send, way.preview, ways.MAIL))
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
        [held] = claims.claim(name, [hook.pk], ALL)
    assert claims.advance(held.destination, 2)
    assert (fresh(hook).failures, hook.failing_since, hook.cursor) == (0, None, 2)
    assert claims.fail(Attempt(held, Outcome("retry")), 0.0)
    assert (fresh(hook).failures, hook.claimed_until) == (1, 3)
    assert hook.failing_since is not None and hook.failing_since > began


def test_where_the_server_can_be_asked_what_comes_later_is_tried_too(
    jones: Filter,
    hook: Destination,
    store: Store,
    way: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So a message that is refused for ever holds up no other."""
    reopening = ways.Way(way.send, way.preview, ways.OUTBOUND, 3, reopens=True)
    monkeypatch.setitem(ways.WAYS, "webhook", reopening)
    store(jones, "poison")
    way.outcome = Outcome("retry", "No.")
    turn()
    store(jones, "two")
    way.outcome = Outcome("delivered")
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert [match.msgid for match in way.batches[-1].matches] == ["poison", "two"]
    assert (fresh(hook).cursor, hook.failures, len(way.batches)) == (2, 0, 2)


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


def test_nothing_is_sent_in_a_holiday_though_it_failed_before(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    store(jones, "one")
    way.outcome = Outcome("retry", "Busy.")
    turn()
    Profile.objects.update(holiday_until=date(8000, 1, 1))
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert len(way.batches) == 1
    assert fresh(hook).due_at is not None and hook.due_at > wall_clock() + 9 * DAY
    Profile.objects.update(holiday_until=None)
    Destination.objects.update(due_at=wall_clock())
    turn()
    assert len({batch.key for batch in way.batches}) == 1 < len(way.batches)


@pytest.mark.django_db(transaction=True)
def test_one_slow_server_does_not_hold_up_the_others(
    store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    """Four threads serve four destinations at the same time: each waits for all the others."""
    together = threading.Barrier(4, timeout=30)

    def send(destination: Destination, batch: Batch) -> Outcome:
        together.wait()
        return Outcome("delivered")

    monkeypatch.setitem(ways.WAYS, "webhook", ways.Way(send, way.preview, ways.OUTBOUND))
    for number in range(4):
        owner = User.objects.create_user(f"u{number}")
        store(Filter.objects.create(owner=owner, name="f", text="x"), f"m{number}")
        Destination.objects.create(owner=owner, kind="webhook", name="h")
    release()
    holder.process_name()

    def work() -> None:
        try:
            while Destination.objects.filter(cursor=0, holder="").exists():
                sending.deliver(["webhook"], 1)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not together.broken
    assert not Destination.objects.filter(cursor=0).exists()


def test_one_person_has_few_destinations_served_at_a_time(
    alice: User, bob: User, hook: Destination
) -> None:
    now = wall_clock()
    for number in range(3):
        Destination.objects.create(owner=alice, kind="webhook", name=f"{number}", due_at=now - HOUR)
    theirs = Destination.objects.create(owner=bob, kind="webhook", name="b", due_at=now)
    Destination.objects.filter(pk=hook.pk).update(holder="somebody:1")
    assert len(claims.due(["webhook"], 9, 2)) == 4
    assert claims.due(["webhook"], 9, 1) == [theirs.pk]
