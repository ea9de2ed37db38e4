"""What nobody foresaw of a delivery, a feed or a sample: said on its page, tried again, exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery import feeds, samples, sequence
from filters.delivery.contents import excerpts
from filters.delivery.contents.excerpts import excerpts_of
from filters.delivery.dispatch import claims
from filters.delivery.mail import bounces
from filters.delivery.models import BounceMailbox, Delivery, Destination, Feed
from filters.delivery.ways import mailbox
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.models import SetAside
from filters.runs.store import release, schedule
from filters.site.work import set_aside
from filters.sources.accounts import trials
from tapestry.core.clock import DAY, SECOND, wall_clock
from tapestry.core.errors import OwnFaultError, TapestryError
from tapestry.deliver.batch import DeliveredMatch, Outcome
from tapestry.deliver.imap.bounce_mailbox import Place
from tapestry.deliver.timing.backoff import GIVE_UP
from tapestry.tables.delta.log import Tables
from tests.support.delivery.recorded_way import Recorder, Store, change_way
from tests.support.delivery.turn import fresh, turn
from tests.support.faults.set_asides import Planted

SignIn = Callable[[User], Client]


@pytest.fixture
def errors(set_asides: Planted) -> list[Any]:
    return set_asides.expect()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, way: Recorder) -> Iterator[pytest.MonkeyPatch]:
    """Have webhooks raise what nobody foresaw, until it is undone."""

    def send(destination: Destination, batch: Any) -> Outcome:
        way.send(destination, batch)
        raise KeyError(destination.name)

    with monkeypatch.context() as patched:
        change_way(patched, "webhook", send=send, preview=way.preview, most=3)
        yield patched


def test_a_delivery_that_raises_is_tried_again_as_the_same_one(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder,
    as_user: SignIn, errors: list[Any], broken: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    store(jones, "one")
    turn()
    row = SetAside.objects.get()
    assert (row.kind, row.key, len(errors)) == ("destination", str(hook.pk), 1)
    assert fresh(hook).due_at == row.try_again_at and hook.failures == 0
    page = as_user(alice).get(hook.get_absolute_url()).content.decode()
    assert row.reason in page and "Next try" in page
    store(jones, "two")
    turn()
    assert len(way.batches) == 1, "its time has not come"
    assert not claims.is_late(wall_clock())
    broken.undo()
    set_aside.try_now()
    turn()
    assert [batch.key for batch in way.batches[:2]] == [way.batches[0].key] * 2
    assert way.delivered == [("insert", "one"), ("insert", "one"), ("insert", "two")]
    assert (fresh(hook).error, hook.failing_since) == ("", None)
    assert not SetAside.objects.exists()


def test_another_version_tries_at_once_and_one_try_at_a_time(
    jones: Filter, hook: Destination, store: Store, way: Recorder, errors: list[Any],
    broken: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    store(jones, "one")
    turn()
    SetAside.objects.update(version="another")
    turn()
    turn()
    assert len(errors) == 2 and SetAside.objects.get().attempts == 2


def test_a_fault_of_this_site_turns_nothing_off(
    jones: Filter, hook: Destination, store: Store, way: Recorder, errors: list[Any],
    broken: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    store(jones, "one")
    turn()
    Destination.objects.update(failing_since=wall_clock() - 2 * GIVE_UP)
    set_aside.try_now()
    turn()
    assert fresh(hook).active and len(errors) == 2
    broken.undo()
    way.outcome = Outcome("retry", "Busy.")
    set_aside.try_now()
    turn()
    assert fresh(hook).active and (hook.error, hook.failures) == ("Busy.", 1)
    assert hook.failing_since is not None and hook.failing_since > wall_clock() - DAY
    assert not SetAside.objects.exists(), "what nobody foresaw is over"


def test_what_our_own_code_makes_of_an_answer_is_set_aside(
    jones: Filter, hook: Destination, store: Store, way: Recorder, errors: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def send(destination: Destination, batch: Any) -> Outcome:
        raise OwnFaultError("It failed here (number abc).")

    change_way(monkeypatch, "webhook", send=send, preview=way.preview, most=3)
    store(jones, "one")
    turn()
    assert len(errors) == 1 and "Its operator sees why" in fresh(hook).error


def test_a_fault_of_the_surroundings_is_one_of_that_delivery(
    jones: Filter, hook: Destination, store: Store, way: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(destination: Destination, batch: Any) -> Outcome:
        raise FileNotFoundError("ca.pem")

    change_way(monkeypatch, "webhook", send=send, preview=way.preview, most=3)
    store(jones, "one")
    turn()
    assert fresh(hook).failures == 1 and not SetAside.objects.exists()


def test_a_filter_whose_times_cannot_be_planned_costs_no_other(
    alice: User, jones: Filter, bob: User, store: Store, as_user: SignIn, errors: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    other = Filter.objects.create(owner=bob, name="other", text="x")
    mine, theirs = (store(owned, "one", shown_at=schedule.HELD) for owned in (jones, other))
    plan = schedule.Choices.plan

    def fails(choices: schedule.Choices, at: int) -> int:
        if choices.time_zone != bob.time_zone:
            raise KeyError
        return plan(choices, at)

    with monkeypatch.context() as patched:
        patched.setattr(schedule.Choices, "plan", fails)
        release.release()
    assert fresh(theirs).sequence and fresh(mine).sequence is None and len(errors) == 1
    why = release.why_not(jones)
    assert why and why in as_user(alice).get(jones.get_absolute_url()).content.decode()
    assert not release.is_late(wall_clock())
    release.release()
    assert fresh(mine).sequence is None, "its time has not come"
    set_aside.try_now()
    release.release()
    assert fresh(mine).sequence and not SetAside.objects.exists()


def test_a_sample_that_raises_says_so_with_a_number(
    jones: Filter, hook: Destination, store: Store, way: Recorder, errors: list[Any],
    broken: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    store(jones, "one")
    release.release()
    trial = trials.begin(hook.owner, "sample:1", samples.send, {"destination": hook.pk})
    row = SetAside.objects.get()
    assert trial.error == row.reason and f"(number {row.pk})" in trial.error
    assert Delivery.objects.get().state == "retry"
    broken.undo()
    turn()
    assert way.delivered[-1] == ("insert", "one"), "the destination itself is not set aside"


def test_a_feed_that_raises_says_so_to_its_reader_and_its_owner(
    alice: User, jones: Filter, store: Store, as_user: SignIn, errors: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    feed = Feed.objects.create(owner=alice, filter=jones)
    store(jones, "one")
    release.release()
    with monkeypatch.context() as patched:
        patched.setattr(feeds, "excerpts_of", lambda _: {}["nobody foresaw this"])
        response = Client().get(feed.get_absolute_url())
    why = SetAside.objects.get().reason
    assert (response.status_code, response.content.decode()) == (503, why)
    assert response["Retry-After"] and "ETag" not in response
    assert why in as_user(alice).get("/feeds/").content.decode()
    assert b"About one" in Client().get(feed.get_absolute_url()).content
    assert not SetAside.objects.exists()


def test_one_message_of_which_no_excerpt_can_be_made_costs_no_other(
    mail: Tables, errors: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(body: str) -> str:
        return {}["nobody foresaw this"] if body.startswith("Yes") else body

    found = [
        DeliveredMatch(n, "insert", 1, "f", "", msgid, "public", "", "", "", 0, 0)
        for n, msgid in enumerate(("plan@example.org", "reply@example.org"))
    ]
    bodies = excerpts_of(found)
    with monkeypatch.context() as patched:
        patched.setattr(excerpts, "excerpt", fails)
        assert excerpts_of(found).keys() == {("plan@example.org", "public")} < bodies.keys()
    assert SetAside.objects.get().key == "reply@example.org/excerpt"
    assert excerpts_of(found) == bodies and not SetAside.objects.exists()


def test_a_message_whose_original_raises_is_set_aside_for_its_mailboxes(
    db: None, errors: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "kept_original", lambda *_: {}["nobody foresaw this"])
    with pytest.raises(OwnFaultError, match="number"):
        mailbox._original("one@x", "public")
    row = SetAside.objects.get()
    assert (row.kind, row.key) == ("message", "one@x/mailbox")


def test_messages_that_are_being_made_ready_are_waited_for(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder
) -> None:
    feed = Feed.objects.create(owner=alice, filter=jones)
    store(jones, "one")
    release.release()
    samples.ready(hook)
    Match.objects.update(refreshed_at=None)
    response = Client().get(feed.get_absolute_url())
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    with pytest.raises(TapestryError, match="being made ready"):
        samples.send(alice, {"destination": hook.pk})
    assert not SetAside.objects.exists() and not claims.due(["webhook"], 9)


def test_a_match_whose_card_cannot_be_made_holds_up_nothing(
    alice: User, jones: Filter, hook: Destination, store: Store, way: Recorder, errors: list[Any]
) -> None:
    feed = Feed.objects.create(owner=alice, filter=jones)
    match = store(jones, "one")
    store(jones, "two")
    release.release()
    Match.objects.filter(pk=match.pk).update(refreshed_at=None)
    set_aside.add(SetAside.Kind.MATCH, match.pk, KeyError())
    turn()
    assert way.delivered == [("insert", "one"), ("insert", "two")]
    assert b"About one" in Client().get(feed.get_absolute_url()).content
    assert sequence.after(jones, 0, 9)[1] is not None


def test_a_bounce_that_raises_costs_no_other_and_is_read_again(
    db: None, settings: Any, errors: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    box, taken = {uid: f"bounce {uid}".encode() for uid in range(1, 5)}, list[bytes]()
    settings.BOUNCES = "imap://x:y@localhost/INBOX"
    BounceMailbox.objects.create(pk=1, address="x", uidvalidity=7)

    def read_after(_account: Any, _folder: str, place: Place) -> Iterator[tuple[Place, bytes]]:
        yield from ((Place(7, uid), raw) for uid, raw in box.items() if uid > place.uid)

    def take(raw: bytes) -> None:
        if raw == b"bounce 2" and is_broken:
            raise KeyError
        taken.append(raw)

    monkeypatch.setattr(bounces, "read_after", read_after)
    monkeypatch.setattr(bounces, "take", take)
    is_broken = True
    bounces.read_mailbox()
    bounces.read_mailbox()
    assert taken == [box[1], box[3], box[4]] and len(errors) == 1
    is_broken = False
    set_aside.try_now()
    bounces.read_mailbox()
    assert taken[3:] == [box[2]] and not SetAside.objects.exists()
    set_aside.add(SetAside.Kind.MESSAGE, f"5/7/{bounces.PART}", KeyError())
    set_aside.try_now()
    bounces.read_mailbox()
    assert not SetAside.objects.exists(), "what was deleted in the mailbox is over"


def test_the_pause_grows_as_that_of_all_that_is_set_aside(
    jones: Filter, hook: Destination, store: Store, way: Recorder, errors: list[Any],
    broken: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    store(jones, "one")
    pauses = []
    for _ in range(3):
        turn()
        row = SetAside.objects.get()
        pauses.append((row.try_again_at - row.last_at) // SECOND)
        Destination.objects.update(due_at=wall_clock())
    assert pauses == [30, 60, 120]
