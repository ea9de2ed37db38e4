"""No change of a filter slips into a joint window: it parts first, and goes on from there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from support.joint_filters import STORE, apart, found_in, joined, run_jointly

from filters.authoring import lifecycle
from filters.authoring.dependents import recompile_all_of
from filters.models import Filter, PendingWindow, Profile
from filters.models import Match as StoredMatch
from filters.store.filter_store import latest_instant
from filters.store.shared_window import detach
from tapestry.core.clock import BEGINNING, wall_clock

Sign = Callable[[User], Client]


def fail(one: Filter) -> None:
    STORE.fail(STORE.enrolled([one.pk])[0], "Spark did not answer.")


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
    "another text": lambda one: lifecycle.change(one, "from smith"),
    "another text for new mail": lambda one: lifecycle.change(one, "from smith", existing=False),
    "live": lambda one: lifecycle.change(one, one.text, mode="live"),
    "paused": lifecycle.pause,
    "resumed": lifecycle.resume,
    "failed": fail,
    "renewed": lambda one: recompile_all_of(one.owner.username, latest_instant()),
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
        since = STORE.shared_since()
        due = STORE.enrolled([one.pk])
        edit(one)
        assert not STORE.commit_shared(since, wall_clock(), due, [found_in(one)])
        assert not StoredMatch.objects.exists()
        assert STORE.shared_since() == since
        assert STORE.enrolled([one.pk]) == []
        assert STORE.commit_shared(since, wall_clock(), [], [])

    def test_a_filter_that_is_deleted_meanwhile_gets_nothing(self, alice: User) -> None:
        one = joined(alice)
        due, stale = STORE.enrolled([one.pk]), found_in(one)
        lifecycle.delete(one)
        assert not STORE.commit_shared(STORE.shared_since(), wall_clock(), due, [stale])

    @pytest.mark.parametrize("how", ["failed", "owner shut out"])
    def test_it_takes_the_joint_since_with_it(self, alice: User, how: str) -> None:
        one = joined(alice)
        since = STORE.shared_since()
        assert since is not None
        assert STORE.commit_shared(since, since + 1, [], [])
        EDITS[how](one)
        one.refresh_from_db()
        assert (one.enrolled, one.since) == (False, since + 1)

    def test_what_an_older_text_had_left_to_find_begins_where_the_joint_run_stands(
        self, alice: User
    ) -> None:
        one = joined(alice)
        since = STORE.shared_since()
        assert since is not None
        assert STORE.commit_shared(since, since + 1, [], [])
        lifecycle.change(one, "from smith", existing=False)
        assert PendingWindow.objects.get().since == since + 1

    def test_a_paused_one_goes_on_from_there(self, alice: User) -> None:
        one = joined(alice)
        since = STORE.shared_since()
        assert since is not None
        lifecycle.pause(one)
        assert STORE.due(2**62) == []
        assert STORE.commit_shared(since, since + 9, [], [])
        lifecycle.resume(one)
        assert [each.since for each in STORE.due(2**62)] == [since]

    def test_a_failed_one_waits_there_until_it_is_resumed(self, alice: User) -> None:
        one = joined(alice)
        since = STORE.shared_since()
        fail(one)
        assert STORE.due(2**62) == []
        lifecycle.resume(one)
        assert [each.since for each in STORE.due(2**62)] == [since]

    def test_the_filters_of_one_who_is_let_in_again_go_on_from_there(self, alice: User) -> None:
        one = joined(alice)
        since = STORE.shared_since()
        assert since is not None
        shut_out(one)
        assert STORE.commit_shared(since, since + 9, [], [])
        alice.save()
        assert [each.since for each in STORE.due(2**62)] == [since]

    def test_a_change_reaches_those_who_refer_to_it(self, alice: User, bob: User) -> None:
        sport = lifecycle.install(bob, "about cricket", name="sport", visibility="shared")
        lifecycle.install(alice, "in bob's sport", name="mine")
        run_jointly(latest_instant())
        assert set(Filter.objects.values_list("enrolled", flat=True)) == {True}
        lifecycle.change(sport, "about tennis")
        assert set(Filter.objects.values_list("enrolled", flat=True)) == {False}

    def test_those_of_others_remain(self, alice: User, carol: User) -> None:
        mine, hers = joined(alice), joined(carol)
        alice.groups.create(name="cricket")
        assert [due.filter_id for due in STORE.enrolled([mine.pk, hers.pk])] == [hers.pk]

    def test_signing_in_parts_nobody(self, alice: User) -> None:
        one = joined(alice)
        Client().force_login(alice)
        alice.first_name = "Al"
        alice.save()
        profile = Profile.objects.get(user=alice)
        profile.time_zone = "Europe/Berlin"
        profile.save()
        assert STORE.enrolled([one.pk])

    def test_parting_what_stands_apart_changes_nothing(self, alice: User) -> None:
        apart(alice)
        detach(Filter.objects.all())
        assert STORE.commit_shared(None, 9, [], [])
        detach(Filter.objects.all())
        assert Filter.objects.get().since == BEGINNING

    def test_the_button_parts_too(self, alice: User, as_user: Sign) -> None:
        one = joined(alice)
        since = STORE.shared_since()
        as_user(alice).post(reverse("pause-filter", args=["jones"]))
        one.refresh_from_db()
        assert (one.active, one.enrolled, one.since) == (False, False, since)


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
        assert STORE.commit(due, 9, []) and STORE.commit_shared(None, 9, [], [])
        EDITS[how](Filter.objects.get(pk=one.pk))
        STORE.enroll(due, 9)
        assert not Filter.objects.get().enrolled
