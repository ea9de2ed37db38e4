"""Pages of shelves of which each line is a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator

from filters.inbox.conversation_pages import PAGE, Shown
from filters.inbox.counts import Sidebar
from filters.inbox.lists import listing
from filters.inbox.lists.conversation_rows import conversation_rows
from filters.inbox.lists.conversations import (
    Order,
    firsts,
    in_order,
    kept,
    keys_of,
    order_of,
    placed,
)
from filters.inbox.models import Card
from filters.inbox.triage import lists
from filters.inbox.triage.lists import Shelf, states_of
from filters.people.models import User
from filters.site.work.db.batching import KEYS


def muted_page(user: User, number: str | None) -> Shown:
    """Return a page of what is muted."""
    found = listing.cards(user, muted=True)

    def among(cards: Sequence[Card]) -> set[int]:
        return keys_of(cards, lambda batch: found.filter(pk__in=batch.values("pk")), "pk")

    order = order_of(found.values_list("pk", listing.thread(), "day", "block"))
    page = Paginator(order.heads, PAGE).get_page(number)
    return page, conversation_rows(user, in_order(found, list(page)), among, blocks=order.blocks)


def shelf_page(user: User, shelf: Shelf, number: str | None, counted: Sidebar) -> Shown:
    """Return a page of what was done, starred or snoozed: each stands where its first message does.

    That is the one to which it happened last, or that comes back next.
    """
    states: Any = states_of(user, shelf)

    def make() -> Order:
        keys = states.values_list("card_key", flat=True)
        return Order(list(firsts(placed(keys.iterator(chunk_size=10_000), {}, KEYS))))

    def among(cards: Sequence[Card]) -> set[int]:
        return {state.card_key for state in lists.among_messages(states, cards)}

    order = kept(user, shelf.name, counted.mark, make)
    page = Paginator(order.heads, PAGE).get_page(number)
    heads: list[Any] = in_order(Card.objects.visible_to(user), list(page))
    at = {state.msgid: state for state in lists.among_messages(states, heads)}
    standing = [head for head in heads if head.msgid in at]
    for head in standing:
        head.moved_at = getattr(at[head.msgid], shelf.field)
    return page, conversation_rows(user, standing, among)
