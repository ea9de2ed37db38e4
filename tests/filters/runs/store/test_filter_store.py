"""The ports on Django's database: one clock, and windows that are stored once or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group

from filters.authoring.models import Filter, PendingWindow
from filters.inbox.models import Match as StoredMatch
from filters.people.models import User
from filters.runs.models import Clock, SetAside
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from tapestry.core.clock import BEGINNING, HOUR, wall_clock
from tapestry.core.ports import Match
from tests.support.faults.races import race
from tests.support.faults.set_asides import Planted


def install(owner: User, name: str = "jones", **fields: object) -> Filter:
    return Filter.objects.create(
        owner=owner, name=name, text="from jones", tql="from jones", **fields
    )


def match(jones: Filter, msgid: str = "a@x") -> Match:
    return Match(jones.pk, msgid, "public", 5, 0, (msgid,))


class TestClock:
    def test_it_begins_at_zero_and_keeps_what_it_was_advanced_to(self, db: None) -> None:
        with DjangoClock().lock() as clock:
            assert clock.last == 0
            clock.advance(7)
            assert clock.last == 7
        with DjangoClock().lock() as clock:
            assert clock.last == 7

    def test_it_never_goes_back(self, db: None) -> None:
        with DjangoClock().lock() as clock:
            clock.advance(7)
            clock.advance(3)
        assert Clock.objects.get().last == 7

    def test_an_error_under_the_lock_leaves_it_as_it_was(self, db: None) -> None:
        with pytest.raises(KeyError), DjangoClock().lock() as clock:
            clock.advance(7)
            raise KeyError
        with DjangoClock().lock() as clock:
            assert clock.last == 0

    @pytest.mark.django_db(transaction=True)
    def test_it_refuses_to_be_held_inside_another_transaction(self) -> None:
        from django.db import transaction

        with transaction.atomic(), pytest.raises(RuntimeError), DjangoClock().lock():
            pass

    @pytest.mark.django_db(transaction=True)
    def test_many_who_advance_it_at_once_each_see_the_other(self) -> None:
        def step() -> None:
            for _ in range(10):
                with DjangoClock().lock() as clock:
                    clock.advance(clock.last + 1)

        race(step, step, step, step)
        assert Clock.objects.get().last == 40


class TestDue:
    def test_it_says_who_asks_what_and_what_they_may_see(self, alice: User) -> None:
        jones = install(alice)
        (due,) = DjangoFilterStore().due(wall_clock())
        assert (due.filter_id, due.text, due.owner) == (jones.pk, "from jones", "alice")
        assert due.addresses == ("alice@example.org", "al@example.com")
        assert due.audiences == ("public", "user:alice", "group:parc")
        assert (due.since, due.start, due.revision) == (BEGINNING, None, 0)

    @pytest.mark.parametrize(
        "fields", [{"active": False}, {"error": "It cannot be compiled."}, {"since": 2**62}]
    )
    def test_it_leaves_out_what_is_not_to_run(self, alice: User, fields: dict[str, object]) -> None:
        install(alice, **fields)
        assert DjangoFilterStore().due(wall_clock()) == []

    def test_a_thousand_filters_are_found_in_seven_statements(
        self, alice: User, django_assert_num_queries: Callable[..., object]
    ) -> None:
        Filter.objects.bulk_create(
            Filter(owner=alice, name=f"f{i}", text="from jones") for i in range(1000)
        )
        with django_assert_num_queries(7):
            assert len(DjangoFilterStore().due(wall_clock())) == 1000


class TestCommit:
    def test_it_stores_the_matches_and_advances_the_windows(self, alice: User) -> None:
        jones = install(alice)
        store = DjangoFilterStore()
        assert store.commit(store.due(9), 9, [match(jones)])
        jones.refresh_from_db()
        assert jones.since == 9
        stored = StoredMatch.objects.get()
        assert (stored.msgid, stored.matched_at, stored.evidence) == ("a@x", 5, ["a@x"])
        assert stored.shown_at == stored.stored_at
        assert store.known([(jones.pk, "a@x"), (jones.pk, "b@x")]) == {(jones.pk, "a@x")}

    @pytest.mark.parametrize("is_pending", [False, True])
    def test_what_matched_before_a_filter_was_written_arrives_read(
        self, alice: User, is_pending: bool
    ) -> None:
        until = {"existing_until": 5}
        jones, store = install(alice, **({} if is_pending else until)), DjangoFilterStore()
        if is_pending:  # an older text left it to run
            window = {"start": None, "since": BEGINNING, "until": 9, **until}
            PendingWindow.objects.create(filter=jones, tql=jones.tql, **window)
        after = Match(jones.pk, "b@x", "public", 6, 0, ("b@x",))
        assert store.commit(store.due(9), 9, [match(jones), after])
        if not is_pending:
            later = Match(jones.pk, "c@x", "public", 5, 0, ("c@x",))
            assert store.commit(store.due(10), 10, [later])
        read = StoredMatch.objects.exclude(read_at=None).values_list("msgid", flat=True)
        assert list(read) == ["a@x"]

    def test_existing_mail_that_is_found_in_parts_arrives_read(self, alice: User) -> None:
        """As that of a filter which is slow, or finds more than can be had at once."""
        jones, store = install(alice, existing_until=7), DjangoFilterStore()
        for until, matched_at in (6, 5), (9, 7), (12, 7):
            found = Match(jones.pk, f"{until}@x", "public", matched_at, 0, (f"{until}@x",))
            assert store.commit(store.due(until), until, [found])
        read = StoredMatch.objects.exclude(read_at=None).values_list("msgid", flat=True)
        assert set(read) == {"6@x", "9@x"}

    def test_existing_mail_of_a_window_that_was_set_aside_arrives_read(
        self, alice: User, set_asides: Planted
    ) -> None:
        set_asides.expect()
        jones, store = install(alice, existing_until=5), DjangoFilterStore()
        (due,) = store.due(9)
        store.postpone(due, 9, KeyError("subject"))
        SetAside.objects.update(try_again_at=0)
        assert store.commit(store.due(12), 12, [match(jones)])
        assert StoredMatch.objects.exclude(read_at=None).count() == 1

    def test_a_window_is_stored_once(self, alice: User) -> None:
        jones = install(alice)
        store = DjangoFilterStore()
        due = store.due(9)
        assert store.commit(due, 9, [match(jones)])
        assert not store.commit(due, 9, [match(jones, "b@x")])
        assert StoredMatch.objects.count() == 1

    def test_one_filter_that_has_moved_on_stops_the_whole_window(self, alice: User) -> None:
        first, second = install(alice), install(alice, "other")
        store = DjangoFilterStore()
        due = store.due(9)
        Filter.objects.filter(pk=second.pk).update(since=8)
        assert not store.commit(due, 9, [match(first)])
        assert not StoredMatch.objects.exists()
        first.refresh_from_db()
        assert first.since == BEGINNING

    def test_a_pending_window_is_not_stored_for_who_has_joined_a_group_meanwhile(
        self, alice: User
    ) -> None:
        jones = install(alice)
        PendingWindow.objects.create(
            filter=jones, tql=jones.tql, start=BEGINNING, since=BEGINNING, until=5
        )
        store = DjangoFilterStore()
        due = store.due(9)
        assert [one.pending_window is not None for one in due] == [True]
        alice.groups.add(Group.objects.create(name="weavers"))
        assert not store.commit(due, 5, [match(jones)])
        assert PendingWindow.objects.exists() and not StoredMatch.objects.exists()
        assert store.commit(store.due(9), 5, [match(jones)])
        assert not PendingWindow.objects.exists()

    @pytest.mark.parametrize("change", [{"revision": 1}, {"active": False}])
    def test_a_filter_that_was_changed_meanwhile_gets_nothing_of_its_old_text(
        self, alice: User, change: dict[str, object]
    ) -> None:
        jones = install(alice)
        store = DjangoFilterStore()
        due = store.due(9)
        Filter.objects.filter(pk=jones.pk).update(**change)
        assert not store.commit(due, 9, [match(jones)])
        assert not StoredMatch.objects.exists()

    def test_a_filter_that_was_deleted_meanwhile_gets_nothing(self, alice: User) -> None:
        jones = install(alice)
        store = DjangoFilterStore()
        due = store.due(9)
        stale = match(jones)
        jones.delete()
        assert not store.commit(due, 9, [stale])

    def test_a_failure_in_the_middle_leaves_nothing(self, alice: User) -> None:
        from django.db import IntegrityError

        jones = install(alice)
        store = DjangoFilterStore()
        due = store.due(9)
        with pytest.raises(IntegrityError):
            store.commit(due, 9, [match(jones), match(jones, "b@x"), match(jones)])
        assert not StoredMatch.objects.exists()
        assert [due.since for due in store.due(9)] == [BEGINNING]

    @pytest.mark.django_db(transaction=True)
    def test_of_two_that_commit_one_window_at_once_one_does(self, alice: User) -> None:
        jones = install(alice)
        store = DjangoFilterStore()
        due = store.due(9)

        def commit(msgid: str) -> Callable[[], bool]:
            return lambda: store.commit(due, 9, [match(jones, msgid)])

        answers = race(commit("a@x"), commit("b@x"), commit("c@x"))
        assert sorted(answers) == [False, False, True]
        assert StoredMatch.objects.count() == 1

    def test_a_thousand_filters_and_five_thousand_matches_go_in_together(self, alice: User) -> None:
        Filter.objects.bulk_create(
            Filter(owner=alice, name=f"f{i}", text="from jones") for i in range(1000)
        )
        store = DjangoFilterStore()
        due = store.due(9)
        matches = [
            Match(due_filter.filter_id, f"{i}@x", "public", 5, 0, ())
            for due_filter in due
            for i in range(5)
        ]
        assert store.commit(due, 9, matches)
        pairs = {(stored.filter_id, stored.msgid) for stored in matches}
        assert store.known(pairs | {(1, "none@x")}) == pairs

    def test_a_match_is_shown_when_its_owner_wants_to_hear(self, bob: User) -> None:
        jones = install(bob, timeliness="hourly")
        store = DjangoFilterStore()
        store.commit(store.due(9), 9, [match(jones)])
        stored = StoredMatch.objects.get()
        assert stored.shown_at % HOUR == 0
        assert 0 <= stored.shown_at - stored.stored_at < HOUR


def test_a_filter_that_failed_says_why_and_is_left_alone(alice: User) -> None:
    jones = install(alice)
    store = DjangoFilterStore()
    [due] = store.due(wall_clock())
    store.fail(due, "Unknown word.")
    jones.refresh_from_db()
    assert jones.error == "Unknown word."
    assert store.due(wall_clock()) == []


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_sqlite_is_opened_for_many_readers_and_one_patient_writer() -> None:
    from django.conf import settings

    options = settings.DATABASES["default"]["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "WAL" in options["init_command"]
    assert sqlite3.threadsafety
