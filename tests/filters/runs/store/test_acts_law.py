"""Law: whatever the windows and their order, states are what standing acts and their owner say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from django.db import transaction

from filters.authoring.models import Filter
from filters.inbox.models import Match, MessageState
from filters.inbox.triage import steps
from filters.inbox.triage.actions import ACTIONS
from filters.people.models import User
from filters.runs.store.filter_store import DjangoFilterStore
from tapestry.core.ports import Change
from tapestry.core.ports import Match as Found

BY_HAND = {
    "star": ("star", True),
    "unstar": ("star", False),
    "pin": ("top", True),
    "unpin": ("top", False),
    "done": ("done", True),
    "inbox": ("done", False),
    "return": ("skip", False),
    "read": ("read", True),
    "unread": ("read", False),
}
Event = tuple[str, int, str]
"""What happens (``turn``, ``window``, or an action by hand), the number of a filter, a message."""


@dataclass
class Model:
    """What is so, by sets: who holds a message read, starred or done; ``own`` is its owner.

    A match has its own mark ``read``: None, or ``own`` or ``act``.
    """

    acts: Sequence[tuple[bool, Sequence[str]]]
    holders: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    own: set[tuple[str, str]] = field(default_factory=set)
    never: set[tuple[int, str, str]] = field(default_factory=set)
    present: set[tuple[int, str]] = field(default_factory=set)
    read: dict[tuple[int, str], str | None] = field(default_factory=dict)

    def held(self, msgid: str, name: str) -> set[int]:
        return self.holders.setdefault((msgid, name), set())

    def turn(self, number: int, msgid: str) -> bool:
        """A message comes, or leaves if it is there and the filter is live; tell if it does."""
        is_live, names = self.acts[number]
        if (number, msgid) in self.present:
            if is_live:
                self.leave(number, msgid)
            return is_live
        self.present.add((number, msgid))
        self.read[number, msgid] = "act" if self.held(msgid, "read") else None
        for name in names:
            if (number, msgid, name) in self.never or (msgid, name) in self.own:
                continue
            self.held(msgid, name).add(number)
            self.mark(msgid, None, "act" if name == "read" else None)
        return True

    def leave(self, number: int, msgid: str) -> None:
        self.present.discard((number, msgid))
        for name in ("read", "star", "top", "skip", "done"):
            before = set(self.held(msgid, name))
            self.held(msgid, name).discard(number)
            if name == "read" and before == {number}:
                self.mark(msgid, "act", None)

    def mark(self, msgid: str, before: str | None, after: str | None) -> None:
        for key, how in self.read.items():
            if key[1] == msgid and how == before:
                self.read[key] = after

    def by_hand(self, action: str, msgid: str) -> None:
        actions = {"done": ["done", "read", "unpin"], "inbox": ["inbox", "return"]}.get(
            action, [action]
        )
        for name, to in (BY_HAND[each] for each in actions):
            held = self.held(msgid, name)
            if not to:
                self.never |= {(number, msgid, name) for number in held}
                held.clear()
                self.own.discard((msgid, name))
            elif name != "read" and not held:
                self.own.add((msgid, name))
            if name == "read":
                self.own.discard((msgid, name))
                for how in [None] if to else ["own", "act"]:
                    self.mark(msgid, how, "own" if to else None)

    def state(self) -> object:
        named = {key for key, held in self.holders.items() if held and key[1] != "read"} | self.own
        return named, {key: bool(self.read[key]) for key in self.present}


def played(user: User, acts: Sequence[tuple[bool, Sequence[str]]], events: list[Event]) -> Model:
    """Play events on the site and on the model, and return that; both are compared on the way."""
    model = Model(acts)
    filters = [
        Filter.objects.create(
            owner=user,
            name=f"f{number}",
            text="…",
            tql="…",
            mode="live" if is_live else "keep",
            acts=" ".join(names),
        )
        for number, (is_live, names) in enumerate(acts)
    ]
    waiting: list[tuple[Filter, str, bool]] = []
    instants = iter(range(10, 1_000))
    commit(filters, [], instants)
    for what, number, msgid in events:
        number %= len(filters)
        if what == "turn":
            comes = (number, msgid) not in model.present
            if model.turn(number, msgid):
                waiting.append((filters[number], msgid, comes))
            continue
        commit(filters, waiting, instants)
        waiting = []
        if what in BY_HAND and any(msgid == known for _, known in model.read):
            steps.act(user, ACTIONS[what], [steps.Target(msgid, "public", msgid)])
            model.by_hand(what, msgid)
    commit(filters, waiting, instants)
    return model


def commit(
    filters: list[Filter], waiting: list[tuple[Filter, str, bool]], instants: Iterator[int]
) -> None:
    """Store a window of all filters in which some messages came and left, in this order."""
    changes, matches = [], []
    for filter_, msgid, comes in waiting:
        at = next(instants)
        if filter_.is_live:
            changes.append(Change(filter_.pk, msgid, "insert" if comes else "delete", at, "public"))
        else:
            matches.append(Found(filter_.pk, msgid, "public", at, 0, (msgid,)))
    until = next(instants)
    due = DjangoFilterStore().due(until)
    assert DjangoFilterStore().commit(due, until, matches, changes)


def state_of(user: User) -> object:
    named = set()
    for row in MessageState.objects.filter(owner=user):
        named |= {(row.msgid, "star")} if row.starred_at else set()
        named |= {(row.msgid, "top")} if row.pinned_at else set()
        named |= {(row.msgid, "skip")} if row.skipped_at else set()
        named |= {(row.msgid, "done")} if row.done_at else set()
    rows = Match.objects.filter(filter__owner=user, retracted_at=None).select_related("filter")
    return named, {(int(row.filter.name[1:]), row.msgid): bool(row.read_at) for row in rows}


def drawn(lots: Random) -> tuple[list[tuple[bool, list[str]]], list[Event]]:
    """Draw three filters, and what happens to a message or two."""
    names = ("read", "star", "top", "skip", "done")
    acts = [(lots.random() < 0.6, lots.sample(names, lots.choice((0, 1, 2, 3)))) for _ in range(3)]
    kinds = ("turn",) * 6 + ("window",) * 3 + tuple(name for name in BY_HAND if name != "return")
    events = [
        (lots.choice(kinds), lots.randrange(3), "m" if lots.random() < 0.8 else "n")
        for _ in range(16)
    ]
    return acts, events


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 20))]


@pytest.mark.django_db
@pytest.mark.parametrize("seed", SEEDS)
def test_states_are_what_acts_and_their_owner_say(seed: int) -> None:
    lots = Random(seed)
    for number in range(6):
        acts, events = drawn(lots)
        with transaction.atomic():
            user = User.objects.create(username=f"ann{number}")
            model = played(user, acts, events)
            assert state_of(user) == model.state(), (acts, events)
            transaction.set_rollback(True)
