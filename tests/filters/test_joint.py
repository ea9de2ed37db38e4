"""Joint runs: one window for all that share it, and no change of a filter slips into one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from races import race

from filters import writing
from filters.dependents import renew_all_of
from filters.joint import part
from filters.models import Filter, Joint, Profile, Rest
from filters.models import Match as StoredMatch
from filters.stores import DjangoFilterStore, latest_instant
from tapestry.core.clock import BEGINNING, HOUR, wall_clock
from tapestry.core.ports import DueFilter, Match

STORE = DjangoFilterStore()

Sign = Callable[[User], Client]


def apart(owner: User, name: str = "jones", **fields: object) -> Filter:
    return Filter.objects.create(
        owner=owner, name=name, text="from jones", tql="from jones", **fields
    )


def run_jointly(until: int) -> int:
    """Run all filters to an instant and let them share their window from there."""
    due = [one for one in STORE.due(until) if one.rest is None]
    assert STORE.commit(due, until, [])
    assert STORE.commit_joint(STORE.joint_since(), until, [], [])
    STORE.join(due, until)
    return until


def joined(owner: User, name: str = "jones", **fields: object) -> Filter:
    made = apart(owner, name, **fields)
    run_jointly(latest_instant())
    made.refresh_from_db()
    assert made.joined
    return made


def found_in(joined: Filter, msgid: str = "a@x", at: int = 5) -> Match:
    return Match(joined.pk, msgid, "public", at, 0, (msgid,))


class TestJoining:
    def test_there_was_no_joint_window_at_first(self, db: None) -> None:
        assert STORE.joint_since() is None
        assert STORE.joined([1, 2]) == []
        assert STORE.commit_joint(None, 5, [], [])
        assert STORE.joint_since() == 5

    def test_a_joined_filter_is_due_from_the_joint_since_and_no_more_by_itself(
        self, alice: User
    ) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        assert STORE.commit_joint(since, since + 9, [], [])
        assert STORE.due(2**62) == []
        assert STORE.joined([one.pk, 10**9]) == [
            DueFilter(
                one.pk,
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
    def test_one_that_does_not_stand_there_as_it_was_run_remains_apart(
        self, alice: User, fields: dict[str, object]
    ) -> None:
        one = apart(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_joint(None, 9, [], [])
        Filter.objects.filter(pk=one.pk).update(**fields)
        STORE.join(due, 9)
        assert not Filter.objects.get().joined

    def test_one_with_a_rest_remains_apart(self, alice: User) -> None:
        one = apart(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_joint(None, 9, [], [])
        Rest.objects.create(filter=one, tql="from x", since=3, until=5)
        STORE.join(due, 9)
        assert not Filter.objects.get().joined

    def test_one_of_somebody_who_was_shut_out_remains_apart(self, alice: User) -> None:
        apart(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_joint(None, 9, [], [])
        User.objects.update(is_active=False)
        STORE.join(due, 9)
        assert not Filter.objects.get().joined

    def test_none_joins_a_window_that_does_not_end_where_it_stands(self, alice: User) -> None:
        apart(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_joint(None, 10, [], [])
        STORE.join(due, 9)
        STORE.join(due, 10)
        assert not Filter.objects.get().joined

    @pytest.mark.sqlite
    def test_of_many_joined_ones_those_apart_are_found_by_an_index(self, alice: User) -> None:
        with CaptureQueriesContext(connection) as asked:
            STORE.due(9)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {asked.captured_queries[0]['sql']}")
            steps = [step for *_, step in cursor.fetchall()]
        assert steps[0] == "SEARCH filters_filter USING INDEX filter_apart (since<?)"

    def test_ten_thousand_are_found_and_committed_in_few_statements(
        self, alice: User, bob: User, django_assert_max_num_queries: Callable[..., object]
    ) -> None:
        Filter.objects.bulk_create(
            Filter(owner=(alice, bob)[i % 2], name=f"f{i}", text="t", tql="t", joined=True)
            for i in range(10_000)
        )
        Joint.objects.update_or_create(pk=1, defaults={"since": 5})
        ids = list(Filter.objects.values_list("pk", flat=True))
        with django_assert_max_num_queries(25):  # type: ignore[attr-defined]
            found = STORE.joined(ids)
        assert len(found) == 10_000
        matches = [Match(one.id, "a@x", "public", 6, 0, ()) for one in found]
        with django_assert_max_num_queries(300):  # type: ignore[attr-defined]
            assert STORE.commit_joint(5, 9, found, matches)
        assert StoredMatch.objects.count() == 10_000


class TestCommitting:
    def test_it_stores_the_matches_and_moves_the_window_of_all(self, alice: User) -> None:
        one, other = joined(alice), joined(alice, "other")
        since = STORE.joint_since()
        assert since is not None
        assert STORE.commit_joint(since, since + 5, STORE.joined([one.pk]), [found_in(one)])
        assert StoredMatch.objects.get().filter == one
        assert {each.since for each in STORE.joined([one.pk, other.pk])} == {since + 5}

    def test_a_window_is_stored_once(self, alice: User) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        due = STORE.joined([one.pk])
        assert STORE.commit_joint(since, since + 5, due, [found_in(one)])
        assert not STORE.commit_joint(since, since + 5, due, [found_in(one, "b@x")])
        assert StoredMatch.objects.count() == 1

    def test_a_failure_in_the_middle_leaves_nothing(self, alice: User) -> None:
        from django.db import IntegrityError

        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        with pytest.raises(IntegrityError):
            STORE.commit_joint(since, since + 5, STORE.joined([one.pk]), [found_in(one)] * 2)
        assert STORE.joint_since() == since
        assert not StoredMatch.objects.exists()


def fail(one: Filter) -> None:
    STORE.fail(STORE.joined([one.pk])[0], "Spark did not answer.")


def shut_out(one: Filter) -> None:
    owner = one.owner
    owner.is_active = False
    owner.save()


def rename(one: Filter) -> None:
    owner = one.owner
    owner.username = "alicia"
    owner.save(update_fields=["username"])


def move(one: Filter) -> None:
    owner = one.owner
    owner.email = "new@example.org"
    owner.save()


def tell_an_alias(one: Filter) -> None:
    profile = Profile.objects.get(user=one.owner)
    profile.aliases = ["new@example.org"]
    profile.save()


def rename_the_group(one: Filter) -> None:
    group = Group.objects.get(name="parc")
    group.name = "xerox"
    group.save()


EDITS: dict[str, Callable[[Filter], object]] = {
    "another text": lambda one: writing.change(one, "from smith"),
    "another text for new mail": lambda one: writing.change(one, "from smith", existing=False),
    "live": lambda one: writing.change(one, one.text, mode="live"),
    "paused": writing.pause,
    "resumed": writing.resume,
    "failed": fail,
    "renewed": lambda one: renew_all_of(one.owner.username, latest_instant()),
    "joined a group": lambda one: one.owner.groups.create(name="cricket"),
    "left a group": lambda one: one.owner.groups.clear(),
    "thrown out of a group": lambda one: Group.objects.get(name="parc").user_set.clear(),
    "group renamed": rename_the_group,
    "group deleted": lambda one: Group.objects.get(name="parc").delete(),
    "owner shut out": shut_out,
    "owner renamed": rename,
    "another address": move,
    "another alias": tell_an_alias,
}


@pytest.mark.usefixtures("tables")
class TestParting:
    @pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
    def test_an_edit_while_a_joint_window_is_run_keeps_it_from_being_stored(
        self, alice: User, edit: Callable[[Filter], object]
    ) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        due = STORE.joined([one.pk])
        edit(one)
        assert not STORE.commit_joint(since, wall_clock(), due, [found_in(one)])
        assert not StoredMatch.objects.exists()
        assert STORE.joint_since() == since
        assert STORE.joined([one.pk]) == []
        assert STORE.commit_joint(since, wall_clock(), [], [])

    def test_a_filter_that_is_deleted_meanwhile_gets_nothing(self, alice: User) -> None:
        one = joined(alice)
        due, stale = STORE.joined([one.pk]), found_in(one)
        writing.delete(one)
        assert not STORE.commit_joint(STORE.joint_since(), wall_clock(), due, [stale])

    @pytest.mark.parametrize("how", ["failed", "owner shut out"])
    def test_it_takes_the_joint_since_with_it(self, alice: User, how: str) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        assert STORE.commit_joint(since, since + 1, [], [])
        EDITS[how](one)
        one.refresh_from_db()
        assert (one.joined, one.since) == (False, since + 1)

    def test_what_an_older_text_had_left_to_find_begins_where_the_joint_run_stands(
        self, alice: User
    ) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        assert STORE.commit_joint(since, since + 1, [], [])
        writing.change(one, "from smith", existing=False)
        assert Rest.objects.get().since == since + 1

    def test_a_paused_one_goes_on_from_there(self, alice: User) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        writing.pause(one)
        assert STORE.due(2**62) == []
        assert STORE.commit_joint(since, since + 9, [], [])
        writing.resume(one)
        assert [each.since for each in STORE.due(2**62)] == [since]

    def test_a_failed_one_waits_there_until_it_is_resumed(self, alice: User) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        fail(one)
        assert STORE.due(2**62) == []
        writing.resume(one)
        assert [each.since for each in STORE.due(2**62)] == [since]

    def test_the_filters_of_one_who_is_let_in_again_go_on_from_there(self, alice: User) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        shut_out(one)
        assert STORE.commit_joint(since, since + 9, [], [])
        alice.save()
        assert [each.since for each in STORE.due(2**62)] == [since]

    def test_a_change_reaches_those_who_refer_to_it(self, alice: User, bob: User) -> None:
        sport = writing.install(bob, "about cricket", name="sport", visibility="shared")
        writing.install(alice, "in bob's sport", name="mine")
        run_jointly(latest_instant())
        assert set(Filter.objects.values_list("joined", flat=True)) == {True}
        writing.change(sport, "about tennis")
        assert set(Filter.objects.values_list("joined", flat=True)) == {False}

    def test_those_of_others_remain(self, alice: User, carol: User) -> None:
        mine, hers = joined(alice), joined(carol)
        alice.groups.create(name="cricket")
        assert [each.id for each in STORE.joined([mine.pk, hers.pk])] == [hers.pk]

    def test_signing_in_parts_nobody(self, alice: User) -> None:
        one = joined(alice)
        Client().force_login(alice)
        alice.first_name = "Al"
        alice.save()
        profile = Profile.objects.get(user=alice)
        profile.time_zone = "Europe/Berlin"
        profile.save()
        assert STORE.joined([one.pk])

    def test_parting_what_stands_apart_changes_nothing(self, alice: User) -> None:
        apart(alice)
        part(Filter.objects.all())
        assert STORE.commit_joint(None, 9, [], [])
        part(Filter.objects.all())
        assert Filter.objects.get().since == BEGINNING

    def test_the_button_parts_too(self, alice: User, as_user: Sign) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        as_user(alice).post(reverse("pause-filter", args=["jones"]))
        one.refresh_from_db()
        assert (one.active, one.joined, one.since) == (False, False, since)


@pytest.mark.usefixtures("tables")
class TestRunningApart:
    """What a filter saw before an edit is not what it shares the joint window with."""

    @pytest.mark.parametrize("how", sorted(EDITS.keys() - {"failed"}))
    def test_an_edit_while_one_is_run_apart_keeps_it_from_being_stored(
        self, alice: User, how: str
    ) -> None:
        one = apart(alice)
        due = STORE.due(9)
        EDITS[how](one)
        assert not STORE.commit(due, 9, [found_in(one)])
        assert not StoredMatch.objects.exists()

    @pytest.mark.parametrize("how", sorted(EDITS.keys() - {"failed"}))
    def test_an_edit_once_it_is_stored_keeps_it_from_joining(self, alice: User, how: str) -> None:
        one = apart(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_joint(None, 9, [], [])
        EDITS[how](Filter.objects.get(pk=one.pk))
        STORE.join(due, 9)
        assert not Filter.objects.get().joined


@pytest.mark.django_db(transaction=True)
def test_edits_and_joint_windows_take_turns(alice: User) -> None:
    one = joined(alice)
    since = STORE.joint_since()
    assert since is not None
    due = STORE.joined([one.pk])
    results = race(
        lambda: STORE.commit_joint(since, since + 5, due, [found_in(one)]),
        lambda: part(Filter.objects.filter(pk=one.pk)),
    )
    one.refresh_from_db()
    assert not one.joined
    assert (results[0], one.since) in [(True, since + 5), (False, since)]
    assert StoredMatch.objects.count() == int(results[0] is True)


class TestShowing:
    def test_the_list_says_when_the_joint_run_last_was(self, alice: User, as_user: Sign) -> None:
        joined(alice)
        Joint.objects.update(ran_at=wall_clock() - 3 * HOUR)
        assert "last run 3 h ago" in as_user(alice).get(reverse("filters")).content.decode()

    def test_the_administration_pages_say_where_a_joined_filter_stands(
        self, alice: User, as_user: Sign
    ) -> None:
        one = joined(alice)
        Joint.objects.update(since=1234567)
        User.objects.update(is_staff=True, is_superuser=True)
        page = as_user(alice).get(reverse("admin:filters_filter_change", args=[one.pk]))
        assert "1234567" in page.content.decode()

    def test_what_is_mended_there_parts_from_the_joint_run(
        self, alice: User, as_user: Sign
    ) -> None:
        one = joined(alice)
        since = STORE.joint_since()
        assert since is not None
        assert STORE.commit_joint(since, since + 5, [], [])
        User.objects.update(is_staff=True, is_superuser=True)
        fields = {
            "owner": alice.pk,
            "name": "jones",
            "visibility": "private",
            "timeliness": "at once",
            "error": "",
        }
        page = as_user(alice).post(reverse("admin:filters_filter_change", args=[one.pk]), fields)
        assert page.status_code == 302
        one.refresh_from_db()
        assert (one.active, one.joined, one.since) == (False, False, since + 5)
