"""Filters that act: each match once, in the transaction of its arrival, undone as it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from filters.authoring import lifecycle
from filters.authoring.acts import Acts
from filters.authoring.models import Filter
from filters.inbox import counts
from filters.inbox.lists import listing
from filters.inbox.models import Match, MessageState
from filters.inbox.search.states import State, in_states
from filters.inbox.triage import steps
from filters.inbox.triage.actions import ACTIONS
from filters.people.models import User
from filters.runs.store import acts
from filters.runs.store.filter_store import DjangoFilterStore
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, letters
from tests.support.lists.live_filters import SCORE, arrive, run, unfold, vote

pytestmark = pytest.mark.usefixtures("engine")


def keep(owner: User, text: str, names: str = "read star done", **options: Any) -> Filter:
    name = options.pop("name", "f")
    return lifecycle.install(owner, text, name=name, acts=Acts(names, **options))


def live(owner: User, text: str, names: str, name: str = "f") -> Filter:
    mode = Filter.Mode.LIVE
    return lifecycle.install(owner, text, name=name, mode=mode, acts=Acts(names))


def state(user: User, name: str) -> set[str]:
    """Return what a message is to a person: read, star, done."""
    msgid = f"{name}@example.org"
    row = MessageState.objects.filter(owner=user, msgid=msgid).first()
    matches = Match.objects.filter(filter__owner=user, msgid=msgid)
    is_read = bool(matches) and all(match.read_at for match in matches)
    return (
        ({"read"} if is_read else set())
        | ({"star"} if row and row.starred_at else set())
        | ({"done"} if row and row.done_at else set())
    )


def do(user: User, action: str, name: str) -> None:
    msgid = f"{name}@example.org"
    steps.act(user, ACTIONS[action], [steps.Target(msgid, "public", msgid)])


def test_what_is_found_is_read_starred_and_done(tables: Tables, carol: User, alice: User) -> None:
    arrive(tables, "old")
    keep(carol, "from @x.org")
    lifecycle.install(alice, "from @x.org", name="hers")
    arrive(tables, "new")
    run()
    assert state(carol, "new") == {"read", "star", "done"}
    assert state(carol, "old") == {"read"}, "existing mail is not acted on: it comes read"
    assert Match.objects.get(filter__owner=carol, msgid__startswith="old").acted_at is None
    assert state(alice, "new") == set(), "nor is it anybody else's"
    assert not MessageState.objects.exclude(owner=carol).exists()


def test_existing_mail_is_acted_on_if_that_is_asked_for(tables: Tables, carol: User) -> None:
    arrive(tables, "old")
    made = keep(carol, "from @x.org", "star", on_existing=True)
    run()
    assert state(carol, "old") == {"read", "star"}
    do(carol, "unstar", "old")
    lifecycle.change(made, made.text, acts=Acts("star read", on_existing=True))
    assert state(carol, "old") == {"read"}, "what its owner changed is theirs"


def test_what_was_found_is_acted_on_if_that_is_asked_for(tables: Tables, carol: User) -> None:
    arrive(tables, "old")
    made = keep(carol, "from @x.org", "")
    run()
    lifecycle.change(made, made.text, acts=Acts("star"))
    assert state(carol, "old") == {"read"}
    lifecycle.change(made, made.text, acts=Acts("star", on_existing=True))
    assert state(carol, "old") == {"read", "star"}


def test_a_window_that_is_not_stored_has_not_acted(
    tables: Tables, carol: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters(tables, "a")
    made = keep(carol, "from jones", "star done", on_existing=True)

    def fail(*_: Any) -> None:
        raise OSError("killed")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="killed"):
        patched.setattr("filters.runs.store.asides.end", fail)
        find(tables, made, "a")
    assert not Match.objects.exists() and not MessageState.objects.exists()
    find(tables, made, "a")
    first = MessageState.objects.values().get()
    assert first["starred_at"] == first["done_at"] == Match.objects.get().acted_at
    with transaction.atomic():
        acts.act_on([(made.pk, "a")], acts.lock_acting([made.pk]))
    assert MessageState.objects.values().get() == first
    assert DjangoFilterStore().known([(made.pk, "a")]) == {(made.pk, "a")}


class TestLetGo:
    """A live filter lets go of a message; the message has had a vote for it, then one against."""

    def test_what_it_did_is_undone_and_done_again(self, tables: Tables, carol: User) -> None:
        live(carol, SCORE, "read star done")
        self.come(tables)
        assert state(carol, "plan") == {"read", "star", "done"}
        self.leave(tables)
        assert state(carol, "plan") == set()
        vote(tables, "eve", "plan", 2.0)
        run()
        assert state(carol, "plan") == {"read", "star", "done"}

    def test_what_its_owner_changed_stays(self, tables: Tables, carol: User) -> None:
        live(carol, SCORE, "read star done")
        self.come(tables)
        do(carol, "unstar", "plan")
        do(carol, "inbox", "plan")
        do(carol, "done", "plan")
        self.leave(tables)
        assert state(carol, "plan") == {"done"}
        vote(tables, "eve", "plan", 2.0)
        run()
        assert state(carol, "plan") == {"done", "read"}

    def test_what_another_filter_did_stays(self, tables: Tables, carol: User) -> None:
        live(carol, SCORE, "read star")
        self.come(tables)
        keep(carol, "replied to", "star read", name="other")
        arrive(tables, "yes", "plan")
        run()
        self.leave(tables)
        assert state(carol, "plan") == {"read", "star"}

    def test_what_two_filters_did_at_once_stays_for_the_other(
        self, tables: Tables, carol: User
    ) -> None:
        live(carol, SCORE, "read star")
        live(carol, SCORE.replace("> 0", "> -9"), "read star", name="other")
        self.come(tables)
        self.leave(tables)
        assert state(carol, "plan") == {"read", "star"}
        vote(tables, "eve", "plan", -9.0)
        run()
        assert state(carol, "plan") == set()

    def test_what_left_and_came_back_at_once_is_read(self, tables: Tables, carol: User) -> None:
        live(carol, SCORE, "read")
        self.come(tables)
        first = Match.objects.get().acted_at
        vote(tables, "bob", "plan", -2.0)
        vote(tables, "eve", "plan", 2.0)
        run()
        assert state(carol, "plan") == {"read"}
        assert (Match.objects.get().acted_at or 0) > (first or 0)

    @staticmethod
    def come(tables: Tables) -> None:
        arrive(tables, "plan")
        vote(tables, "ann", "plan")
        run()

    @staticmethod
    def leave(tables: Tables) -> None:
        vote(tables, "bob", "plan", -1.0)
        run()


@pytest.mark.parametrize("first", ["reader", "plain"])
def test_a_read_message_is_read_in_whichever_filter_finds_it_last(
    tables: Tables, carol: User, first: str
) -> None:
    letters(tables, "a")
    reader = keep(carol, "from jones", "read", name="reader", on_existing=True)
    plain = keep(carol, "from jones", "", name="plain")
    both = [reader, plain] if first == "reader" else [plain, reader]
    for one in both:
        find(tables, one, "a")
    assert not Match.objects.filter(read_at=None).exists()


def test_what_skips_the_inbox_is_in_its_filter_s_list(tables: Tables, carol: User) -> None:
    letters(tables, "a", "b")
    made = keep(carol, "from jones", "skip", on_existing=True)
    other = keep(carol, "from jones", "", name="other")
    for one in (made, other):
        find(tables, one, "a", "b")
    for filter_, count in ((None, 0), (made, 2), (other, 2)):
        assert len(listing.cards(carol, filter_)) == count
        assert len(listing.keys(carol, filter_)) == len(listing.places(carol, filter_)) == count
    unfold()
    assert counts.unread_of(carol) == counts.sidebar(carol).total == 0
    assert in_states(carol, [State("inbox")])[0] == set()
    move = [steps.Target("a", "public", "a")]
    step = steps.act(carol, ACTIONS["inbox"], move)
    assert [card.msgid for card in listing.cards(carol)] == ["a"]
    assert in_states(carol, [State("inbox")])[0] == {"a"} and counts.sidebar(carol).total == 1
    steps.undo(carol, step.pk)
    assert not listing.cards(carol)


def test_so_many_a_day_and_no_more(tables: Tables, carol: User) -> None:
    letters(tables, "a", "b", "c")
    made = keep(carol, "from jones", "star", a_day=2, on_existing=True)
    find(tables, made, "a", "b", "c")
    assert MessageState.objects.count() == 2
    made.refresh_from_db()
    assert made.acts_stopped_at is not None and made.acts_left_out == 1
    unfold()
    assert len(listing.cards(carol)) == 3
    lifecycle.change(made, made.text, acts=Acts("star", a_day=3))
    made.refresh_from_db()
    assert (made.acts_stopped_at, made.acts_left_out) == (None, 0)


def test_what_is_undone_by_hand_is_not_done_again(tables: Tables, carol: User, alice: User) -> None:
    live(carol, SCORE, "star")
    TestLetGo.come(tables)
    assert acts.undo(alice, Match.objects.all()) == 0
    assert acts.undo(carol, Match.objects.all()) == 1
    assert state(carol, "plan") == set()
    assert acts.undo(carol, Match.objects.all()) == 0
    TestLetGo.leave(tables)
    vote(tables, "eve", "plan", 2.0)
    run()
    assert state(carol, "plan") == set()
