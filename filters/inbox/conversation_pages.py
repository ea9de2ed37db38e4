"""Pages of lists of which each line is a conversation: the inbox, a filter's list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from django.core.paginator import Page, Paginator

from filters.authoring.models import Filter
from filters.inbox.appraisal.order import ByImportance
from filters.inbox.counts import Sidebar
from filters.inbox.lists import listing
from filters.inbox.lists.conversation_rows import conversation_rows
from filters.inbox.lists.conversations import firsts, in_order, kept, keys_of, order_of, placed
from filters.inbox.lists.rows import Row
from filters.inbox.models import Card, Match
from filters.people.models import User

PAGE = 50

Shown = tuple[Page[Any], list[Row]]
"""A page of a list, and its lines."""


class ConversationsByImportance:
    """A list by importance, for a Paginator: of each conversation the most important message."""

    def __init__(self, messages: ByImportance, length: int) -> None:
        self.messages, self.length = messages, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> list[Card]:
        found = self.messages.keys(2 * part.stop)  # for some are of one conversation
        heads = firsts(placed(found, self.messages.threads, part.stop))
        return self.messages.cards_of(list(islice(heads, part.start or 0, part.stop)))


def list_page(
    user: User,
    filter_: Filter | None,
    number: str | None,
    counted: Sidebar,
    by_importance: ByImportance | None = None,
) -> Shown:
    """Return a page of a person's inbox, or of a filter's list, in the order that is asked for."""

    def among(cards: Sequence[Card]) -> set[int]:
        listed = Match.objects.in_list(user, filter_).order_by()
        return keys_of(cards, lambda batch: listed.filter(card__in=batch.values("pk")), "card")

    name = "inbox" if filter_ is None else f"filter {filter_.pk}"
    order = kept(
        user,
        name,
        counted.mark,
        lambda: order_of(listing.places(user, filter_).iterator(chunk_size=10_000)),
    )
    if by_importance is None:
        page = Paginator(order.heads, PAGE).get_page(number)
        heads = in_order(listing.cards(user, filter_), list(page))
        return page, conversation_rows(user, heads, among, filter_, order.blocks)
    found: Any = ConversationsByImportance(by_importance, len(order.heads))
    page = Paginator(found, PAGE).get_page(number)
    return page, conversation_rows(user, list(page), among, filter_)
