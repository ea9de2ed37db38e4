"""Law: whatever comes, leaves and is done, lines are the list, message by message, put together.

The order that is kept of a long list is the order that there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from filters.authoring.models import Filter
from filters.inbox import conversation_pages, counts
from filters.inbox.lists import conversations, listing
from filters.inbox.models import Card, Match
from filters.inbox.triage import conversations as shelf_pages
from filters.inbox.triage import lists, steps
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target
from filters.people.models import User
from tapestry.core.clock import HOUR, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import installed

ACTS = ("done", "inbox", "star", "unstar", "read", "unread", "snooze", "unsnooze", "mute", "unmute")

OPS = st.one_of(
    # The message at this place of the tree answers the one at another, which may come later.
    st.tuples(st.just("come"), st.integers(0, 11), st.integers(0, 3)),
    st.tuples(st.just("act"), st.integers(0, 11), st.sampled_from(ACTS)),
    st.tuples(st.just("leave"), st.integers(0, 11), st.booleans()),
    st.tuples(st.just("group"), st.booleans(), st.none()),
    st.tuples(st.just("undo"), st.none(), st.none()),
    st.tuples(st.just("forget"), st.integers(0, 11), st.none()),
)


class Desk:
    """A person's lists, and what happens to them."""

    def __init__(self, user: User, parents: list[int]) -> None:
        self.user, self.parents = user, parents
        self.filters = [installed(user, name) for name in ("jones", "plans")]
        self.now = wall_clock() - 90 * HOUR
        self.steps: list[Any] = []

    def root(self, number: int) -> str:
        while (above := self.parents[number]) < number:
            number = above
        return f"m{number}"

    def come(self, number: int, found_by: int) -> None:
        self.now += HOUR
        audience = "group:parc" if number % 4 == 3 else "public"
        card, _ = Card.objects.get_or_create(
            msgid=f"m{number}", audience=audience,
            defaults={"ts": self.now, "received": self.now - number % 3 * HOUR,
                      "root": self.root(number), "imported": "box" * (number % 5 == 0)},
        )  # fmt: skip
        for place, filter_ in enumerate(self.filters):
            if found_by != place:
                Match.objects.get_or_create(
                    filter=filter_, msgid=card.msgid,
                    defaults={"audience": audience, "card": card, "matched_at": self.now,
                              "stored_at": self.now, "shown_at": self.now,
                              "refreshed_at": self.now},
                )  # fmt: skip

    def act(self, number: int, action: str) -> None:
        for card in Card.objects.visible_to(self.user).filter(msgid=f"m{number}"):
            until = wall_clock() + HOUR * (1 if number % 2 else -1)
            target = Target(card.msgid, card.audience, card.root)
            self.steps.append(steps.act(self.user, ACTIONS[action], [target], until))

    def leave(self, number: int, gone: bool) -> None:
        self.now += HOUR
        matches = Match.objects.filter(filter=self.filters[0], msgid=f"m{number}")
        matches.update(retracted_at=self.now if gone else None, refreshed_at=self.now)

    def group(self, member: bool, _: None) -> None:
        self.user.groups.set([Group.objects.get_or_create(name="parc")[0]] if member else [])
        self.user = User.objects.get(pk=self.user.pk)

    def undo(self, *_: None) -> None:
        if self.steps:
            steps.undo(self.user, self.steps.pop().pk)

    def forget(self, number: int, _: None) -> None:
        Match.objects.filter(msgid=f"m{number}").delete()
        Card.objects.filter(msgid=f"m{number}").delete()


def put_together(cards: list[Any]) -> list[set[int]]:
    """Return the conversations of a list, message by message, in their order."""
    found: dict[str, set[int]] = {}
    for card in cards:
        found.setdefault(card.root or card.msgid, set()).add(card.pk)
    return list(found.values())


def lines(page_of: Callable[[str], Any]) -> list[set[int]]:
    """Return what the lines of all pages of a list stand for."""
    page, rows = page_of("1")
    for number in range(2, page.paginator.num_pages + 1):
        rows = [*rows, *page_of(str(number))[1]]
    keys = {(card.audience, card.msgid): card.pk for card in Card.objects.all()}
    return [{keys[copy] for copy in row.conversation.copies} for row in rows]


@pytest.mark.parametrize("short", [0, 500])
@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    parents=st.lists(st.integers(0, 11), min_size=12, max_size=12),
    ops=st.lists(OPS, min_size=4, max_size=10),
)
def test_lines_are_the_list_put_together(
    tables: Tables,
    bob: User,
    short: int,
    parents: list[int],
    ops: list[tuple[str, Any, Any]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversations, "SHORT", short)
        for module in (conversation_pages, shelf_pages):
            patch.setattr(module, "PAGE", 2)
        Filter.objects.all().delete()
        Card.objects.all().delete()
        bob.message_states.all().delete()
        bob.mutes.all().delete()
        desk = Desk(User.objects.get(pk=bob.pk), parents)
        for name, one, other in ops:
            getattr(desk, name)(one, other)
            _check_list(desk.user, None)
        _check_list(desk.user, desk.filters[0])
        _check_shelves(desk.user)


def _check_list(user: User, filter_: Filter | None) -> None:
    counted = counts.sidebar(user)
    cards = list(listing.cards(user, filter_))
    shown = lines(lambda n: conversation_pages.list_page(user, filter_, n, counted))
    assert shown == put_together(cards)


def _check_shelves(user: User) -> None:
    counted = counts.sidebar(user)
    muted = list(listing.cards(user, muted=True))
    assert lines(lambda n: shelf_pages.muted_page(user, n)) == put_together(muted)
    for name in ("done", "starred", "snoozed"):
        shelf = lists.SHELVES[name]
        cards = lists.cards_of(list(lists.states_of(user, shelf)))
        shown = lines(lambda n, s=shelf: shelf_pages.shelf_page(user, s, n, counted))
        assert shown == put_together(cards)
