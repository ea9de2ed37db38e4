"""One page of a list, at a cost that follows the page and not the list.

    days back: 1, 4, 16 … until the window has enough messages ──> order these alone

Lists are ordered by day first: what is in the window of the newest days stands above the rest.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from filters.accounts import people
from filters.lists import listing
from filters.models import Card, Filter
from filters.runtime.batching import in_batches
from filters.store.message_states import returned
from tapestry.core.clock import to_datetime, to_instant, wall_clock

if TYPE_CHECKING:
    # The stubs know what a paginator has pages of; Django itself takes no parameter.
    CardPaginator = Paginator[Card]
else:
    CardPaginator = Paginator

WINDOWS = (1, 4, 16, 64, 256)
"""Days, today the first; where they have too few messages the whole list is ordered."""

MOST = 20_000
"""Messages in a window that is tried."""

SHORT = 500
"""A list of so few messages is ordered as a whole."""


class CountedPaginator(CardPaginator):
    """A paginator of a list whose length is known."""

    def __init__(self, found: QuerySet[Card], per_page: int, count: int) -> None:
        super().__init__(found, per_page)
        self.count = count


def page_of(
    user: User, filter_: Filter | None, number: str | None, per_page: int, count: int
) -> Page[Card]:
    """Return a page of the inbox, or of a filter's list, of which the length is ``count``."""
    cards = listing.cards(user, filter_)
    paginator = CountedPaginator(cards, per_page, count)
    at = paginator.get_page(number).number
    if count > SHORT:
        paginator.object_list = newest(user, filter_, cards, min(at * per_page, count))
    return paginator.page(at)


def newest(user: User, filter_: Filter | None, cards: QuerySet[Card], count: int) -> QuerySet[Card]:
    """Return at least the first ``count`` of the cards of a list, in their order."""
    matches = listing.listed(user, filter_).order_by()
    zone = people.time_zone(user)
    today = to_datetime(wall_clock()).astimezone(zone).date()
    keys: set[int] = set()
    for days in WINDOWS:
        begin = datetime.combine(today - timedelta(days=days - 1), datetime.min.time(), zone)
        since = matches.filter(matched_at__gte=to_instant(begin))
        keys = {key for key in since.values_list("card", flat=True)[:MOST] if key is not None}
        if len(keys) >= count or len(keys) == MOST:
            break
    if not count <= len(keys) < MOST:
        return cards
    back = Card.objects.filter(msgid__in=returned(user).values("msgid"))
    keys.update(back.values_list("pk", flat=True)[:MOST])
    return next(in_batches(cards, keys), cards.none())
