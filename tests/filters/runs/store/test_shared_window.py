"""The shared window: one for all enrolled filters, each of its runs stored once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from filters.authoring.models import Filter, PendingWindow
from filters.inbox.models import Match as StoredMatch
from filters.people.models import User
from filters.runs.models import SetAside, SharedWindow
from filters.runs.store.shared_window import detach
from filters.site.work import set_aside
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.ports import DueFilter, Match
from tests.support.faults.races import race
from tests.support.faults.set_asides import Planted
from tests.support.lists.enrolled_filters import STORE, enrolled, match_of, with_own_window

Sign = Callable[[User], Client]


class TestEnrolling:
    def test_there_was_no_shared_window_at_first(self, db: None) -> None:
        assert STORE.shared_since() is None
        assert STORE.enrolled([1, 2]) == []
        assert STORE.commit_shared(None, 5, [], [])
        assert STORE.shared_since() == 5

    def test_an_enrolled_filter_is_due_in_the_shared_window_and_no_longer_by_itself(
        self, alice: User
    ) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        assert STORE.commit_shared(since, since + 9, [], [])
        assert STORE.due(2**62) == []
        assert STORE.enrolled([jones.pk, 10**9]) == [
            DueFilter(
                jones.pk,
                "from jones",
                "alice",
                ("alice@example.org", "al@example.com"),
                ("public", "user:alice", "group:parc"),
                since + 9,
                None,
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {"active": False},
            {"error": "No."},
            {"mode": "live"},
            {"revision": 1},
            {"since": 8},
        ],
        ids=str,
    )
    def test_a_filter_that_is_not_as_it_was_run_is_not_enrolled(
        self, alice: User, fields: dict[str, object]
    ) -> None:
        jones = with_own_window(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_shared(None, 9, [], [])
        Filter.objects.filter(pk=jones.pk).update(**fields)
        STORE.enroll(due, 9)
        assert not Filter.objects.get().enrolled

    def test_a_filter_with_a_pending_window_is_not_enrolled(self, alice: User) -> None:
        jones = with_own_window(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_shared(None, 9, [], [])
        PendingWindow.objects.create(filter=jones, tql="from x", since=3, until=5)
        STORE.enroll(due, 9)
        assert not Filter.objects.get().enrolled

    def test_a_filter_of_a_deactivated_owner_is_not_enrolled(self, alice: User) -> None:
        with_own_window(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_shared(None, 9, [], [])
        User.objects.update(is_active=False)
        STORE.enroll(due, 9)
        assert not Filter.objects.get().enrolled

    def test_no_filter_is_enrolled_in_a_window_that_ends_elsewhere(self, alice: User) -> None:
        with_own_window(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_shared(None, 10, [], [])
        STORE.enroll(due, 9)
        STORE.enroll(due, 10)
        assert not Filter.objects.get().enrolled

    @pytest.mark.sqlite
    def test_filters_with_their_own_window_are_found_by_an_index(self, alice: User) -> None:
        with CaptureQueriesContext(connection) as asked:
            STORE.due(9)
        with connection.cursor() as cursor:
            plans = []
            for query in asked.captured_queries:
                cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
                plans.append(cursor.fetchall()[0][-1])
        assert "SEARCH authoring_filter USING INDEX filter_own_window (since<?)" in plans
        assert not [step for step in plans if "SCAN authoring_filter" in step], plans

    def test_ten_thousand_are_found_and_committed_in_few_statements(
        self, alice: User, bob: User, django_assert_max_num_queries: Callable[..., object]
    ) -> None:
        Filter.objects.bulk_create(
            Filter(owner=(alice, bob)[i % 2], name=f"f{i}", text="t", tql="t", enrolled=True)
            for i in range(10_000)
        )
        SharedWindow.objects.update_or_create(pk=1, defaults={"since": 5})
        ids = list(Filter.objects.values_list("pk", flat=True))
        with django_assert_max_num_queries(25):
            enrolled = STORE.enrolled(ids)
        assert len(enrolled) == 10_000
        matches = [Match(due.filter_id, "a@x", "public", 6, 0, ()) for due in enrolled]
        with django_assert_max_num_queries(300):
            assert STORE.commit_shared(5, 9, enrolled, matches)
        assert StoredMatch.objects.count() == 10_000


class TestCommitting:
    def test_it_stores_the_matches_and_moves_the_window_of_all(self, alice: User) -> None:
        jones, other = enrolled(alice), enrolled(alice, "other")
        since = STORE.shared_since()
        assert since is not None
        assert STORE.commit_shared(since, since + 5, STORE.enrolled([jones.pk]), [match_of(jones)])
        assert StoredMatch.objects.get().filter == jones
        assert {due.since for due in STORE.enrolled([jones.pk, other.pk])} == {since + 5}

    def test_who_was_expelled_and_is_committed_again_is_not_set_aside_any_more(
        self, alice: User, set_asides: Planted
    ) -> None:
        set_asides.expect()
        jones, other = enrolled(alice), enrolled(alice, "other")
        since = STORE.shared_since()
        assert since is not None
        for filter_ in (jones, other):
            set_aside.add(SetAside.Kind.ENROLLED, filter_.pk, KeyError())
        assert STORE.commit_shared(since, since + 5, STORE.enrolled([jones.pk]), [])
        assert SetAside.objects.get().key == f"{other.pk}"

    def test_a_window_is_stored_once(self, alice: User) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        due = STORE.enrolled([jones.pk])
        assert STORE.commit_shared(since, since + 5, due, [match_of(jones)])
        assert not STORE.commit_shared(since, since + 5, due, [match_of(jones, "b@x")])
        assert StoredMatch.objects.count() == 1

    def test_a_failure_in_the_middle_leaves_nothing(self, alice: User) -> None:
        from django.db import IntegrityError

        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        with pytest.raises(IntegrityError):
            STORE.commit_shared(since, since + 5, STORE.enrolled([jones.pk]), [match_of(jones)] * 2)
        assert STORE.shared_since() == since
        assert not StoredMatch.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_edits_and_shared_windows_take_turns(alice: User) -> None:
    jones = enrolled(alice)
    since = STORE.shared_since()
    assert since is not None
    due = STORE.enrolled([jones.pk])
    results = race(
        lambda: STORE.commit_shared(since, since + 5, due, [match_of(jones)]),
        lambda: detach(Filter.objects.filter(pk=jones.pk)),
    )
    jones.refresh_from_db()
    assert not jones.enrolled
    assert results[0] is True
    assert (jones.since, StoredMatch.objects.count()) in [(since + 5, 1), (since, 0)]


class TestShowing:
    def test_the_list_says_when_the_shared_window_last_ran(
        self, alice: User, as_user: Sign
    ) -> None:
        enrolled(alice)
        SharedWindow.objects.update(ran_at=wall_clock() - 3 * HOUR)
        assert "last run 3 h ago" in as_user(alice).get(reverse("filters")).content.decode()

    def test_the_administration_pages_say_where_an_enrolled_filter_stands(
        self, alice: User, as_user: Sign
    ) -> None:
        jones = enrolled(alice)
        SharedWindow.objects.update(since=1234567)
        User.objects.update(is_staff=True, is_superuser=True)
        page = as_user(alice).get(reverse("admin:authoring_filter_change", args=[jones.pk]))
        assert "1234567" in page.content.decode()

    def test_a_filter_mended_there_is_detached(self, alice: User, as_user: Sign) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        assert STORE.commit_shared(since, since + 5, [], [])
        User.objects.update(is_staff=True, is_superuser=True)
        fields = {
            "owner": alice.pk,
            "name": "jones",
            "visibility": "private",
            "timeliness": "at once",
            "error": "",
        }
        page = as_user(alice).post(
            reverse("admin:authoring_filter_change", args=[jones.pk]), fields
        )
        assert page.status_code == 302
        jones.refresh_from_db()
        assert (jones.active, jones.enrolled, jones.since) == (False, False, since + 5)
