"""Pages of lists of which each line is a conversation: the inbox, a filter's list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Page, Paginator

from filters.authoring.models import Filter
from filters.inbox.counts import Sidebar
from filters.inbox.lists import listing
from filters.inbox.lists.conversation_rows import conversation_rows
from filters.inbox.lists.conversations import in_order, kept, keys_of, order_of
from filters.inbox.lists.rows import Row
from filters.inbox.models import Card, Match
from filters.people.models import User

PAGE = 50

Shown = tuple[Page[Any], list[Row]]
"""A page of a list, and its lines."""


def list_page(user: User, filter_: Filter | None, number: str | None, counted: Sidebar) -> Shown:
    """Return a page of a person's inbox, or of a filter's list, and its lines."""
    order = kept(
        user,
        "inbox" if filter_ is None else f"filter {filter_.pk}",
        counted.mark,
        lambda: order_of(listing.places(user, filter_).iterator(chunk_size=10_000)),
    )
    page = Paginator(order.heads, PAGE).get_page(number)
    heads = in_order(listing.cards(user, filter_), list(page))
    return page, lines(user, heads, filter_, order.blocks)


def lines(
    user: User,
    heads: Sequence[Card],
    filter_: Filter | None,
    blocks: Mapping[tuple[int, str], int] | None = None,
) -> list[Row]:
    """Return the lines of conversations of a list, each by the message that stands first."""

    def among(cards: Sequence[Card]) -> set[int]:
        listed = Match.objects.in_list(user, filter_).order_by()
        return keys_of(cards, lambda batch: listed.filter(card__in=batch.values("pk")), "card")

    return conversation_rows(user, heads, among, filter_, blocks)
