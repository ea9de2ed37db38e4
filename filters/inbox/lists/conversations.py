"""The order of a list of which each line is a conversation: all its messages that the list has.

    the list, message by message ─ the first of each conversation ─> lines, in this order

A conversation stands where the first of its messages stands in the list.  Two messages are of one
conversation if their threads have one root (filters.inbox.lists.roots), as when it is muted.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from django.db.models import QuerySet

from filters.inbox.lists import listing
from filters.inbox.models import Card
from filters.people.models import User
from filters.site.work.db.batching import batched, in_batches
from tapestry.core.clock import BEGINNING, NEVER, wall_clock

KEPT = 200
"""Orders that are kept in one process: those last asked for."""

SHORT = 500
"""Conversations up to which a list is put in order at each request."""

CHUNK = 500
"""Cards of which the conversations are looked up at once."""

Place = tuple[int, str]
"""A message in a list: the key of its card, and the name of its conversation."""


@dataclass(frozen=True, slots=True)
class Order:
    """The conversations of a list: of each the key of the card that stands first.

    ``blocks`` counts those of each import that matched as it came, by the day's number and the
    name of the import.  ``during``: the instants at which it stands while nothing happens.
    """

    heads: Sequence[int] = ()
    blocks: Mapping[tuple[int, str], int] = field(default_factory=dict)
    during: range = range(BEGINNING, NEVER)


_kept: OrderedDict[tuple[int, str], tuple[str, Order]] = OrderedDict()
_lock = Lock()


def kept(user: User, name: str, mark: str, make: Callable[[], Order]) -> Order:
    """Return the order of a list of a person, the one kept while the mark of all lists is the same.

    One of few conversations is made each time.
    """
    key = (user.pk, name)
    with _lock:
        known = _kept.get(key)
        if known is not None and known[0] == mark and wall_clock() in known[1].during:
            _kept.move_to_end(key)
            return known[1]
    made = make()
    if len(made.heads) <= SHORT:
        return made
    with _lock:
        _kept[key] = mark, made
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return made


def order_of(places: Iterable[Any]) -> Order:
    """Return the conversations of messages in order, which are ``listing.places``."""
    heads, blocks, seen = array("q"), Counter[tuple[int, str]](), set[str]()
    for key, name, day, block in places:
        if name in seen:
            continue
        seen.add(name)
        heads.append(key)
        if block:
            blocks[day, block] += 1
    return Order(heads, blocks)


def firsts(places: Iterable[Place]) -> Iterator[int]:
    """Yield of messages in order the first of each conversation.

    >>> list(firsts([(7, "a"), (3, "b"), (9, "a"), (1, "c")]))
    [7, 3, 1]
    """
    seen = set[str]()
    for key, name in places:
        if name not in seen:
            seen.add(name)
            yield key


def placed(keys: Iterable[int], known: Mapping[int, str], size: int = CHUNK) -> Iterator[Place]:
    """Yield cards, in order, each with the name of its conversation; those that are gone not.

    Where a name is not ``known`` it is looked up, for so many cards at once.
    """
    for batch in batched(keys, size):
        named: dict[int, Any] = {key: known[key] for key in batch if key in known}
        for cards in in_batches(Card.objects.order_by(), set(batch) - named.keys()):
            named |= dict(cards.values_list("pk", listing.thread()))
        yield from ((key, named[key]) for key in batch if key in named)


def keys_of(
    cards: Sequence[Card], listed: Callable[[QuerySet[Card]], QuerySet[Any]], field: str
) -> set[int]:
    """Return the keys of those of some cards that are in a list."""
    batches = in_batches(Card.objects.order_by(), (card.pk for card in cards))
    return {key for batch in batches for key in listed(batch).values_list(field, flat=True)}


def in_order(cards: QuerySet[Card], keys: Iterable[int]) -> list[Card]:
    """Return those of the cards that have these keys, in this order."""
    wanted = list(keys)
    found = {card.pk: card for batch in in_batches(cards, wanted) for card in batch}
    return [found[key] for key in wanted if key in found]
