"""What a list of before is made of: its lines, their places, and what a state meant then."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from filters.inbox.models import TOP, Card, FormerRoot, Match
from filters.people.models import User


@dataclass(frozen=True, slots=True)
class PastLine:
    """A message in a list as it was: when it came into the list, and its state then."""

    card: Card
    moved_at: int
    day: date | None
    is_unread: bool
    is_starred: bool
    is_muted: bool
    names: tuple[str, ...] = ()
    is_at_top: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A message of a list: its place, by which lists are ordered, and the key of its card."""

    place: tuple[Any, ...]
    card: int


def width(card: Card) -> tuple[int, str]:
    kinds = {"user": 0, "group": 1}
    return kinds.get(card.audience.partition(":")[0], 2), card.audience


def item_of(day: int, block: str, rank: int, moved_at: int, card: int) -> Item:
    return Item((-day, block, -rank, -moved_at, -card), card)


def place_of(item: Item) -> tuple[Any, ...]:
    return item.place


def merged(one: Iterable[Item], other: Iterable[Item]) -> list[Item]:
    return sorted([*one, *other], key=place_of)


def is_hidden_then(state: Any, at: int, *, inbox: bool) -> bool:
    if state is None:
        return False
    if inbox and state.skipped_at is not None:
        return True
    return state.done_at is not None or (state.snoozed_until or at) > at


def stands_at(state: Any, at: int, *, inbox: bool) -> int | None:
    """Return at which instant a message stands that was pinned, or back from being snoozed."""
    if state is None or state.done_at is not None:
        return None
    if inbox and state.pinned_at is not None:
        return int(state.pinned_at) + TOP
    if state.snoozed_until is None:
        return None
    return int(state.snoozed_until) if state.snoozed_until <= at else None


def renamed_since(user: User, at: int) -> QuerySet[FormerRoot]:
    """Return the former names of conversations of a person's that have joined others since."""
    own = Match.objects.filter(filter__owner=user, card=OuterRef("card"))
    return FormerRoot.objects.filter(Exists(own), until__gt=at)


def name_as_of(at: int, cards: Collection[Card]) -> None:
    """Give cards the names that their conversations had."""
    former = FormerRoot.objects.filter(until__gt=at, card__in=[card.pk for card in cards])
    roots = dict(former.order_by("-pk").values_list("card", "root"))
    for card in cards:
        card.root = roots.get(card.pk, card.root)
