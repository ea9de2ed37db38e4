"""An edited filter is detached from the shared window first, and goes on from where that ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from filters.authoring import lifecycle
from filters.authoring.compilation.dependents import recompile_all_of
from filters.authoring.models import Filter, PendingWindow
from filters.inbox.models import Match as StoredMatch
from filters.people.models import User
from filters.runs.store.filter_store import latest_instant
from filters.runs.store.shared_window import detach
from tapestry.core.clock import BEGINNING, wall_clock
from tests.support.lists.enrolled_filters import (
    STORE,
    enrolled,
    match_of,
    run_and_enroll,
    with_own_window,
)

Sign = Callable[[User], Client]


def fail(edited: Filter) -> None:
    STORE.fail(STORE.enrolled([edited.pk])[0], "Spark did not answer.")


def shut_out(edited: Filter) -> None:
    owner = edited.owner
    owner.is_active = False
    owner.save()


def rename(edited: Filter) -> None:
    owner = edited.owner
    owner.username = "alicia"
    owner.save(update_fields=["username"])


def move(edited: Filter) -> None:
    owner = edited.owner
    owner.email = "new@example.org"
    owner.save()


def tell_an_alias(edited: Filter) -> None:
    edited.owner.aliases = ["new@example.org"]
    edited.owner.save()


def rename_the_group(edited: Filter) -> None:
    group = Group.objects.get(name="parc")
    group.name = "xerox"
    group.save()


EDITS: dict[str, Callable[[Filter], object]] = {
    "another text": lambda edited: lifecycle.change(edited, "from smith"),
    "another text for new mail": lambda edited: lifecycle.change(
        edited, "from smith", existing=False
    ),
    "live": lambda edited: lifecycle.change(edited, edited.text, mode="live"),
    "paused": lifecycle.pause,
    "resumed": lifecycle.resume,
    "failed": fail,
    "renewed": lambda edited: recompile_all_of(edited.owner.username, latest_instant()),
    "entered a group": lambda edited: edited.owner.groups.create(name="cricket"),
    "left a group": lambda edited: edited.owner.groups.clear(),
    "thrown out of a group": lambda edited: Group.objects.get(name="parc").user_set.clear(),
    "group renamed": rename_the_group,
    "group deleted": lambda edited: Group.objects.get(name="parc").delete(),
    "owner shut out": shut_out,
    "owner renamed": rename,
    "another address": move,
    "another alias": tell_an_alias,
}


@pytest.mark.usefixtures("tables")
class TestDetaching:
    @pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
    def test_an_edit_during_a_shared_window_keeps_it_from_being_stored_for_that_filter(
        self, alice: User, carol: User, edit: Callable[[Filter], object]
    ) -> None:
        jones, hers = enrolled(alice), enrolled(carol)
        since = STORE.shared_since()
        assert since is not None
        due = STORE.enrolled([jones.pk, hers.pk])
        edit(jones)
        assert STORE.commit_shared(since, since + 9, due, [match_of(jones), match_of(hers)])
        assert StoredMatch.objects.get().filter == hers
        assert STORE.shared_since() == since + 9
        assert STORE.enrolled([jones.pk]) == []

    def test_a_filter_that_is_deleted_meanwhile_gets_nothing(self, alice: User) -> None:
        jones = enrolled(alice)
        since, due, stale = STORE.shared_since(), STORE.enrolled([jones.pk]), match_of(jones)
        lifecycle.delete(jones)
        assert STORE.commit_shared(since, wall_clock(), due, [stale])
        assert not StoredMatch.objects.exists()

    @pytest.mark.parametrize("how", ["failed", "owner shut out"])
    def test_a_detached_filter_keeps_the_since_of_the_shared_window(
        self, alice: User, how: str
    ) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        assert STORE.commit_shared(since, since + 1, [], [])
        EDITS[how](jones)
        jones.refresh_from_db()
        assert (jones.enrolled, jones.since) == (False, since + 1)

    def test_the_pending_window_of_an_older_text_begins_where_the_shared_window_ends(
        self, alice: User
    ) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        assert STORE.commit_shared(since, since + 1, [], [])
        lifecycle.change(jones, "from smith", existing=False)
        assert PendingWindow.objects.get().since == since + 1

    def test_a_paused_filter_goes_on_from_there(self, alice: User) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        lifecycle.pause(jones)
        assert STORE.due(2**62) == []
        assert STORE.commit_shared(since, since + 9, [], [])
        lifecycle.resume(jones)
        assert [due.since for due in STORE.due(2**62)] == [since]

    def test_a_failed_filter_waits_there_until_it_is_resumed(self, alice: User) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        fail(jones)
        assert STORE.due(2**62) == []
        lifecycle.resume(jones)
        assert [due.since for due in STORE.due(2**62)] == [since]

    def test_the_filters_of_a_reactivated_owner_go_on_from_there(self, alice: User) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        assert since is not None
        shut_out(jones)
        assert STORE.commit_shared(since, since + 9, [], [])
        alice.save()
        assert [due.since for due in STORE.due(2**62)] == [since]

    def test_a_change_detaches_the_filters_that_refer_to_it(self, alice: User, bob: User) -> None:
        sport = lifecycle.install(bob, "about cricket", name="sport", visibility="shared")
        lifecycle.install(alice, "in bob's sport", name="mine")
        run_and_enroll(latest_instant())
        assert set(Filter.objects.values_list("enrolled", flat=True)) == {True}
        lifecycle.change(sport, "about tennis")
        assert set(Filter.objects.values_list("enrolled", flat=True)) == {False}

    def test_the_filters_of_other_owners_stay_enrolled(self, alice: User, carol: User) -> None:
        mine, hers = enrolled(alice), enrolled(carol)
        alice.groups.create(name="cricket")
        assert [due.filter_id for due in STORE.enrolled([mine.pk, hers.pk])] == [hers.pk]

    def test_signing_in_detaches_no_filter(self, alice: User) -> None:
        jones = enrolled(alice)
        Filter.objects.update(tql="m.sender_name HAS 'jones' OR m.sender LIKE 'jones@%'")
        Client().force_login(alice)
        alice.first_name = "Al"
        alice.save()
        alice.time_zone = "Europe/Berlin"
        alice.save()
        assert STORE.enrolled([jones.pk])

    def test_detaching_a_filter_with_its_own_window_changes_nothing(self, alice: User) -> None:
        with_own_window(alice)
        detach(Filter.objects.all())
        assert STORE.commit_shared(None, 9, [], [])
        detach(Filter.objects.all())
        assert Filter.objects.get().since == BEGINNING

    def test_the_pause_button_detaches(self, alice: User, as_user: Sign) -> None:
        jones = enrolled(alice)
        since = STORE.shared_since()
        as_user(alice).post(reverse("pause-filter", args=["jones"]))
        jones.refresh_from_db()
        assert (jones.active, jones.enrolled, jones.since) == (False, False, since)


@pytest.mark.usefixtures("tables")
class TestOwnWindows:
    """A filter is not enrolled with what it saw before an edit."""

    @pytest.mark.parametrize("how", sorted(EDITS.keys() - {"failed"}))
    def test_an_edit_during_its_own_window_keeps_it_from_being_stored(
        self, alice: User, how: str
    ) -> None:
        jones = with_own_window(alice)
        due = STORE.due(9)
        EDITS[how](jones)
        assert not STORE.commit(due, 9, [match_of(jones)])
        assert not StoredMatch.objects.exists()

    @pytest.mark.parametrize("how", sorted(EDITS.keys() - {"failed"}))
    def test_an_edit_after_its_own_window_keeps_it_from_being_enrolled(
        self, alice: User, how: str
    ) -> None:
        jones = with_own_window(alice)
        due = STORE.due(9)
        assert STORE.commit(due, 9, []) and STORE.commit_shared(None, 9, [], [])
        EDITS[how](Filter.objects.get(pk=jones.pk))
        STORE.enroll(due, 9)
        assert not Filter.objects.get().enrolled
