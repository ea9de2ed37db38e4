"""Which filters go to which destinations: from then on, and nothing that waits is lost."""

from __future__ import annotations

import pytest

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.delivery.models import Destination, Subscription
from filters.people.models import User
from filters.runs.store import subscriptions
from filters.runs.store.release import release
from tapestry.deliver.batch import Outcome
from tests.support.delivery.recorded_way import Recorder, Store
from tests.support.delivery.turn import turn


@pytest.fixture
def smith(alice: User) -> Filter:
    return Filter.objects.create(owner=alice, name="smith", text="by smith", phrase="by smith")


def new_hook(owner: User, filters: list[Filter] | None) -> Destination:
    made = Destination(owner=owner, kind="webhook", name="new")
    subscriptions.add_destination(made, filters)
    return made


def test_a_new_destination_takes_what_comes_from_then_on(
    alice: User, jones: Filter, smith: Filter, store: Store, way: Recorder
) -> None:
    store(jones, "before")
    release()
    new_hook(alice, [jones])
    store(jones, "after")
    store(smith, "elsewhere")
    turn()
    assert way.delivered == [("insert", "after")]


def test_a_filter_that_is_added_begins_then(
    alice: User, jones: Filter, smith: Filter, store: Store, way: Recorder
) -> None:
    made = new_hook(alice, [jones])
    store(jones, "jones waits")
    store(smith, "smith before")
    release()
    subscriptions.choose_filters(made, [jones, smith])
    store(smith, "smith after")
    turn()
    assert way.delivered == [("insert", "jones waits"), ("insert", "smith after")]


def test_all_filters_from_then_on_and_what_the_chosen_one_left_waiting(
    alice: User, jones: Filter, smith: Filter, store: Store, way: Recorder
) -> None:
    made = new_hook(alice, [jones])
    store(jones, "jones waits")
    store(smith, "smith before")
    release()
    subscriptions.choose_filters(made, None)
    store(smith, "smith after")
    turn()
    assert way.delivered == [("insert", "jones waits"), ("insert", "smith after")]


def test_one_of_all_filters_keeps_what_waits_of_it(
    alice: User, jones: Filter, smith: Filter, store: Store, way: Recorder
) -> None:
    made = new_hook(alice, None)
    store(jones, "jones waits")
    store(smith, "smith waits")
    release()
    subscriptions.choose_filters(made, [jones])
    store(smith, "smith after")
    turn()
    assert way.delivered == [("insert", "jones waits")]


def test_a_filter_taken_out_and_in_again_begins_anew(
    alice: User, jones: Filter, smith: Filter, store: Store, way: Recorder
) -> None:
    made = new_hook(alice, [jones, smith])
    subscriptions.choose_filters(made, [smith])
    store(jones, "between")
    release()
    subscriptions.choose_filters(made, [smith, jones])
    store(jones, "after")
    turn()
    assert way.delivered == [("insert", "after")]


def test_a_claimed_range_stays_when_filters_change(
    alice: User, jones: Filter, smith: Filter, store: Store, way: Recorder
) -> None:
    made = new_hook(alice, [jones])
    store(jones, "one")
    way.outcome = Outcome("retry", "busy")
    turn()
    subscriptions.choose_filters(made, [jones, smith])
    store(smith, "two")
    release()
    way.outcome = Outcome("delivered")
    Destination.objects.update(due_at=0)
    turn()
    assert way.batches[0].key == way.batches[1].key
    assert way.delivered == [("insert", "one"), ("insert", "one"), ("insert", "two")]


def test_the_cursor_passes_what_does_not_concern_it(
    alice: User, jones: Filter, smith: Filter, store: Store
) -> None:
    made = new_hook(alice, [jones])
    store(smith, "elsewhere")
    release()
    subscriptions.choose_filters(made, [jones, smith])
    assert (made.cursor, made.latest) == (1, 1)


def test_a_filter_is_sent_to_destinations_of_its_owner_alone(
    alice: User, bob: User, jones: Filter
) -> None:
    mine, all_of_mine, of_bob = new_hook(alice, []), new_hook(alice, None), new_hook(bob, [])
    subscriptions.choose_destinations(jones, [mine, all_of_mine, of_bob])
    assert [s.destination for s in Subscription.objects.all()] == [mine]
    subscriptions.choose_destinations(jones, [])
    assert not Subscription.objects.exists()


@pytest.mark.usefixtures("tables")
def test_a_new_filter_is_sent_from_its_first_match_on(
    alice: User, store: Store, way: Recorder
) -> None:
    made = new_hook(alice, [])
    installed = lifecycle.install(alice, "by smith", destinations=[made])
    store(installed, "first")
    turn()
    assert way.delivered == [("insert", "first")]


def test_a_destination_that_is_gone_is_left_alone(alice: User, jones: Filter) -> None:
    made = new_hook(alice, None)
    Destination.objects.all().delete()
    subscriptions.choose_filters(made, [jones])
    assert not Subscription.objects.exists()


def test_a_filter_that_is_gone_is_left_out(alice: User, jones: Filter, smith: Filter) -> None:
    made = new_hook(alice, [])
    Filter.objects.filter(pk=smith.pk).delete()
    subscriptions.choose_filters(made, [jones, smith])
    subscriptions.choose_destinations(smith, [made])
    new = new_hook(alice, [jones, smith])
    pairs = set(Subscription.objects.values_list("destination", "filter"))
    assert pairs == {(made.pk, jones.pk), (new.pk, jones.pk)}
