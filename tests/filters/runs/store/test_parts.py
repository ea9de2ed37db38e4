"""The shared window in parts: a filter is in one, and workers run them at the same time."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest
from django.conf import LazySettings

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs import rounds, tasks
from filters.runs.models import SharedWindow
from filters.runs.store import shared_window
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore, latest_instant
from filters.site.work.parts import services
from tapestry.core.message import Message
from tapestry.predicate_index.store import PredicateIndex
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.support.faults.races import race
from tests.support.lists.enrolled_filters import STORE, match_of, with_own_window

PARTS = 3

TEXTS = ("from joe", "from mary", "from bill", "about plan", "replies to joe", "replied to by mary")


@pytest.fixture
def tables(engine: None, settings: LazySettings) -> Tables:
    settings.WINDOW_PARTS = PARTS
    return services.tables()


_numbers = count()


def bring(sender: str = "joe@x", inreplyto: str | None = None, subject: str = "plan") -> str:
    msgid = f"m{next(_numbers)}@x"
    message = Message(msgid, sender=sender, inreplyto=inreplyto, subject=subject)
    append_messages(services.tables(), DjangoClock(), [message])
    return msgid


def install_all(owner: User) -> None:
    for number, text in enumerate(TEXTS):
        lifecycle.install(owner, text, name=f"f{number}")


def parts_of_filters() -> set[int]:
    enrolled = Filter.objects.filter(enrolled=True)
    assert enrolled.count() == Filter.objects.count()
    return set(enrolled.values_list("part", flat=True))


def found(filter_: Filter) -> list[str]:
    return sorted(Match.objects.filter(filter=filter_).values_list("msgid", flat=True))


def test_each_part_has_filters_and_an_index_of_them_alone(tables: Tables, alice: User) -> None:
    install_all(alice)
    rounds.run_round()
    assert parts_of_filters() == {0, 1, 2}
    indexes = PredicateIndex.all_parts(tables.root)
    assert len(indexes) == PARTS
    sizes = [sum(index.filter_counts().values()) for index in indexes]
    assert sizes == [Filter.objects.filter(part=part).count() for part in range(PARTS)]


def test_a_filter_of_two_signatures_gets_each_match_once(tables: Tables, alice: User) -> None:
    wanted = [
        lifecycle.install(alice, f"from {name} or replies to {name}", name=name)
        for name in ("joe", "mary", "bill")
    ]
    rounds.run_round()
    question = bring("joe@x")
    rounds.run_round()
    both = bring("joe@x", question)
    reply = bring("mary@x", question)
    for part in reversed(range(PARTS)):
        rounds.run_shared_lane(part)
    assert [found(filter_) for filter_ in wanted] == [[question, both, reply], [reply], []]


def test_a_part_that_stands_still_keeps_no_other_from_its_mail(tables: Tables, alice: User) -> None:
    install_all(alice)
    rounds.run_round()
    msgid = bring("joe@x")
    stuck = Filter.objects.get(name="f0").part
    with rounds.lane(rounds.shared_lane(stuck)):
        tasks.tick()
    filters = Filter.objects.filter(name__in=["f0", "f3"]).order_by("name")
    assert {filter_.part for filter_ in filters} > {stuck}
    assert [found(filter_) for filter_ in filters] == [[], [msgid]]
    tasks.tick()
    assert [found(filter_) for filter_ in filters] == [[msgid], [msgid]]


def test_a_window_of_one_part_is_not_advanced_by_another(tables: Tables, alice: User) -> None:
    install_all(alice)
    rounds.run_round()
    before = {row.part: row.since for row in SharedWindow.objects.all()}
    bring()
    rounds.run_shared_lane(1)
    after = {row.part: row.since for row in SharedWindow.objects.all()}
    assert after[1] != before[1]
    assert (after[0], after[2]) == (before[0], before[2])
    assert SharedWindow.first_since() == before[0]


def test_filters_of_parts_that_are_no_more_are_run_until_they_leave(
    tables: Tables, alice: User, settings: LazySettings
) -> None:
    install_all(alice)
    rounds.run_round()
    settings.WINDOW_PARTS = 1
    assert shared_window.parts() == [0, 1, 2]
    msgid = bring("joe@x")
    tasks.tick()
    assert found(Filter.objects.get(name="f0")) == [msgid]
    assert found(Filter.objects.get(name="f3")) == [msgid]
    shared_window.detach(Filter.objects.all())
    rounds.run_round()
    tasks.tick()
    assert shared_window.parts() == [0]
    assert parts_of_filters() == {0}


@pytest.mark.django_db(transaction=True)
def test_parts_that_are_stored_at_once_and_edits_lose_nothing(
    alice: User, settings: LazySettings
) -> None:
    settings.WINDOW_PARTS = PARTS
    stores = [DjangoFilterStore(part) for part in range(PARTS)]
    made = [with_own_window(alice, f"f{part}") for part in range(PARTS)]
    until = latest_instant()
    due = STORE.due(until)
    assert STORE.commit(due, until, [])
    for store, filter_ in zip(stores, made, strict=True):
        assert store.commit_shared(None, until, [], [])
        store.enroll(
            [due_filter for due_filter in due if due_filter.filter_id == filter_.pk], until
        )
    commits = [
        partial(
            store.commit_shared,
            until,
            until + 5,
            store.enrolled([filter_.pk]),
            [match_of(filter_)],
        )
        for store, filter_ in zip(stores, made, strict=True)
    ]
    edit = partial(shared_window.detach, Filter.objects.filter(pk=made[0].pk))
    results = race(*commits, *commits, edit)
    assert [results[part] is not results[part + PARTS] for part in range(PARTS)] == [True] * PARTS
    edited, *others = Filter.objects.order_by("pk")
    assert (edited.since, Match.objects.filter(filter=edited).count()) in [
        (until + 5, 1),
        (until, 0),
    ]
    assert [Match.objects.filter(filter=other).count() for other in others] == [1, 1]


def test_the_lanes_bring_filters_into_all_parts(tables: Tables, alice: User) -> None:
    install_all(alice)
    Filter.objects.update(proven=True)
    tasks.tick()
    for part in (2, 1, 0):
        bring()
        rounds.run_shared_lane(part)
    rounds.run_own_lane()
    assert parts_of_filters() == {0, 1, 2}


def test_a_window_that_began_before_a_filter_joined_is_not_stored(
    alice: User, tables: Tables
) -> None:
    with_own_window(alice)
    paused, at_work = DjangoFilterStore(), DjangoFilterStore()
    since = latest_instant()
    due = at_work.due(since)
    assert at_work.commit(due, since, [])
    assert at_work.commit_shared(None, since, [], [])
    assert paused.shared_since() == since
    at_work.enroll(due, since)
    assert not paused.commit_shared(since, since + 5, [], []), "it would leave the filter out"
    assert at_work.shared_since() == since
    assert at_work.commit_shared(since, since + 5, [], [])
