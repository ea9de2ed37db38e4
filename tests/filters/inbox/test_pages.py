"""A page of a list is that of the whole list, though only the newest days are ordered for it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from filters.inbox import counts, pages
from filters.inbox.lists import listing
from filters.inbox.lists.rows import page_rows
from filters.inbox.models import Card, Match, MessageState, returned
from filters.inbox.triage import steps
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target
from filters.people.models import User
from filters.runs.store.schedule import replan
from filters.site.work.db import batching
from tapestry.core.clock import DAY, HOUR, wall_clock
from tests.support.lists.listed_mail import installed


def fill(user: User, chance: random.Random) -> None:
    """Give a person messages of many days, in two filters; some are done, some came back."""
    now = wall_clock()
    filters = [installed(user, name) for name in ("jones", "plans")]
    for number in range(120):
        at = now - round(chance.expovariate(1 / 20) * DAY)
        card = Card.objects.create(
            msgid=f"m{number}", audience="public", ts=at, received=at - chance.randrange(2 * DAY),
            imported=chance.choice(["", "", "archive"]), root=f"m{number}",
        )  # fmt: skip
        for filter_ in chance.sample(filters, chance.choice([1, 2])):
            matched_at = at if chance.random() < 0.5 else min(now, at + chance.randrange(9 * DAY))
            Match.objects.create(
                filter=filter_, msgid=card.msgid, audience="public", card=card,
                matched_at=matched_at, stored_at=at, shown_at=at, refreshed_at=at,
            )  # fmt: skip
        state: dict[str, Any] = chance.choice(
            [{}, {}, {}, {"done_at": 1}, {"snoozed_until": now - chance.randrange(30) * DAY},
             {"pinned_at": now - number % 3 * DAY}]
        )  # fmt: skip
        if state:
            MessageState.objects.create(
                owner=user, msgid=card.msgid, audience="public", changed_at=number, **state
            )


@pytest.mark.parametrize(
    ("most", "keys"), [(0, pages.KEYS), (40, pages.KEYS), (pages.MOST, pages.KEYS), (0, 20)]
)
@pytest.mark.parametrize("seed", range(2))
def test_each_page_is_that_of_the_whole_list(
    bob: User, seed: int, most: int, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST", most)  # 0: no window, 40: a window for the first pages
    for module in (pages, batching):  # 20: what came back is too much for one statement
        monkeypatch.setattr(module, "KEYS", keys)
    fill(bob, random.Random(seed))
    for filter_ in (None, bob.filters.get(name="jones")):
        cards = list(listing.cards(bob, filter_))
        states = MessageState.objects.of_messages(bob, [card.msgid for card in cards])
        pinned = [msgid for msgid in states if states[msgid].pinned_at]
        at_top = [card.msgid in pinned for card in cards]
        assert pinned and all(at_top[: len(pinned)]) == (filter_ is None), "at the inbox's top"
        count = counts.sidebar(bob).total_of(filter_)
        assert count == len(cards) > 30
        for number in range(1, -(-count // 15) + 1):
            monkeypatch.setattr(pages, "SHORT", 0)
            page = pages.page_of(bob, filter_, str(number), 15, count)
            assert list(page) == cards[(number - 1) * 15 : number * 15]
        monkeypatch.setattr(pages, "SHORT", count)
        whole = pages.page_of(bob, filter_, "2", 15, count)
        monkeypatch.setattr(pages, "SHORT", 0)
        page = pages.page_of(bob, filter_, "2", 15, count)
        assert page_rows(bob, page, filter_) == page_rows(bob, whole, filter_)


def test_what_came_back_is_on_the_first_page_however_much_it_is(
    bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SHORT", 0)
    monkeypatch.setattr(pages, "MOST", 30)
    fill(bob, random.Random(3))
    now = wall_clock()
    for place, state in enumerate(MessageState.objects.order_by("msgid")):  # the last is on top
        back = {"snoozed_until": now - HOUR + place, "done_at": None}
        MessageState.objects.filter(pk=state.pk).update(**back)
    assert MessageState.objects.count() > 30
    Match.objects.update(matched_at=now - 9 * DAY)
    for match in Match.objects.exclude(msgid__in=MessageState.objects.values("msgid"))[:20]:
        Match.objects.filter(pk=match.pk).update(matched_at=now)
    cards = list(listing.cards(bob))
    assert list(pages.page_of(bob, None, "1", 10, len(cards))) == cards[:10]


def test_the_newest_page_orders_few_messages(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "SHORT", 0)
    fill(bob, random.Random(7))
    found = pages.newest(bob, None, listing.cards(bob), 5)
    assert found is not None and 5 <= len(found) < 80


def test_what_stands_elsewhere_is_found_by_indexes(bob: User) -> None:
    if connection.vendor == "sqlite":
        plan = returned(bob, inbox=True).explain()
        assert "message_state_snoozed" in plan and "message_state_pinned" in plan, plan


def test_the_mark_follows_whatever_changes_a_list(bob: User) -> None:
    fill(bob, random.Random(1))
    marks = [counts.mark_of(bob)]
    match = Match.objects.filter(read_at=None).order_by("pk")[5]
    changed = Match.objects.filter(pk=match.pk)
    now = wall_clock()
    for change in (
        lambda: changed.update(read_at=now),
        lambda: changed.update(retracted_at=now),
        lambda: changed.update(retracted_at=None),
        lambda: changed.update(refreshed_at=now + 5),
        lambda: changed.update(read_at=None),
        lambda: changed.update(sequence=9),
        lambda: Match.objects.filter(msgid="m3").delete(),
        lambda: bob.filters.filter(name="plans").update(active=False),
        lambda: installed(bob, "more"),
        lambda: bob.filters.filter(name="more").delete(),
        lambda: bob.mutes.create(root="m9"),
        lambda: bob.groups.clear(),
    ):
        change()
        marks.append(counts.mark_of(User.objects.get(pk=bob.pk)))
        assert marks[-1] != marks[-2]
        kept = counts.sidebar(bob)
        counts._kept.clear()
        fresh = counts.sidebar(User.objects.get(pk=bob.pk))
        assert (kept.total, kept.unread) == (fresh.total, fresh.unread)


@pytest.mark.parametrize("read_at", [None, 1])
def test_the_mark_follows_until_when_matches_wait(bob: User, read_at: int | None) -> None:
    fill(bob, random.Random(1))
    now = wall_clock()
    waiting = bob.filters.get(name="jones").matches.filter(sequence=None)
    waiting.update(shown_at=now + HOUR, stored_at=now, read_at=read_at)

    def waits_until() -> list[int | None]:
        return [getattr(row, "waits_until", None) for row in counts.sidebar(bob).filters]

    assert now + HOUR in waits_until()
    bob.filters.filter(name="jones").update(timeliness="weekly on Monday at 08:00")
    assert replan(bob.filters.filter(name="jones"))
    assert waiting.values_list("shown_at", flat=True)[0] in waits_until()


def test_the_mark_follows_each_batch_of_a_step(bob: User) -> None:
    """A page may ask between two batches: what it was told then must not stay."""
    fill(bob, random.Random(1))
    Match.objects.update(read_at=1)
    shown = listing.cards(bob).values_list("msgid", "audience", "root")[:2]
    first, second = (Target(*row) for row in shown)

    def targets() -> Iterator[Target]:
        yield first
        counts.sidebar(bob)
        yield second

    before = counts.sidebar(bob).total
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "batched", lambda items: ([item] for item in items))
        steps.act(bob, ACTIONS["done"], targets())
    assert counts.sidebar(bob).total == before - 2
