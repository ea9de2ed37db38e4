"""One page of a list, at a cost that follows the page and not the list.

    days back: 1, 4, 16 … until the window has enough messages ──> order these alone
    further down: ─> keys of the list in its order, those before the page skipped ──┘

Lists are ordered by day first: what is in the window of the newest days stands above the rest.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from filters.authoring.models import Filter
from filters.inbox.lists import listing
from filters.inbox.models import Card, Match, returned
from filters.people.models import User
from filters.site.work.db.batching import KEYS, in_batches
from tapestry.core.clock import to_datetime, to_instant, wall_clock

if TYPE_CHECKING:
    # The stubs know what a paginator has pages of; Django itself takes no parameter.
    CardPaginator = Paginator[Card]
else:
    CardPaginator = Paginator

WINDOWS = (1, 4, 16, 64, 256)
"""Days, today the first; where they have too few messages the whole list is ordered."""

MOST = 4_000
"""Messages in a window that is tried."""

SHORT = 500
"""A list of so few messages is ordered as a whole."""


class CountedPaginator(CardPaginator):
    """A paginator of a list whose length is known, and of which a page is read from a part.

    ``part`` has all messages of the page, in the order of the list; ``skipped`` of the list are
    not in it, and stand before the page.
    """

    def __init__(self, found: QuerySet[Card], per_page: int, count: int) -> None:
        super().__init__(found, per_page)
        self.count = count
        self.part, self.skipped = found, 0

    def page(self, number: int | str) -> Page[Card]:
        at = self.validate_number(number)
        begin = (at - 1) * self.per_page
        end = min(begin + self.per_page, self.count)
        return Page(self.part[begin - self.skipped : end - self.skipped], at, self)


def page_of(
    user: User, filter_: Filter | None, number: str | None, per_page: int, count: int
) -> Page[Card]:
    """Return a page of the inbox, or of a filter's list, of which the length is ``count``."""
    cards = listing.cards(user, filter_)
    paginator = CountedPaginator(cards, per_page, count)
    at = paginator.get_page(number).number
    if count > SHORT:
        begin = (at - 1) * per_page
        end = min(begin + per_page, count)
        found = newest(user, filter_, cards, end) if end < MOST else None
        if found is None:
            paginator.part, paginator.skipped = further(user, filter_, cards, begin, end)
        else:
            paginator.part = paginator.object_list = found
    return paginator.page(at)


def newest(
    user: User, filter_: Filter | None, cards: QuerySet[Card], count: int
) -> QuerySet[Card] | None:
    """Return at least the first ``count`` cards of a list, in their order.

    None if they are not in a window of the newest days that has few messages, with what came back.
    """
    matches = Match.objects.in_list(user, filter_).order_by()
    zone = user.zone
    today = to_datetime(wall_clock()).astimezone(zone).date()
    keys: set[int] = set()
    for days in WINDOWS:
        begin = datetime.combine(today - timedelta(days=days - 1), datetime.min.time(), zone)
        since = matches.filter(matched_at__gte=to_instant(begin))
        cards_since = since.values_list("card", flat=True).distinct()[:MOST]
        keys = {key for key in cards_since if key is not None}
        if len(keys) >= count or len(keys) == MOST:
            break
    if not count <= len(keys) < MOST:
        return None
    keys.update(_returned(user, filter_)[: MOST + 1])
    if len(keys) >= MOST:
        return None
    return next(in_batches(cards, keys), cards.none())


def further(
    user: User, filter_: Filter | None, cards: QuerySet[Card], begin: int, end: int
) -> tuple[QuerySet[Card], int]:
    """Return those of a list's cards among which the page from ``begin`` to ``end`` is.

    With how many are skipped, all of them above the page: what came back from being snoozed, or is
    pinned, is ordered with the page: it stands higher than its match, and may push others down.
    If that is too much for one statement, the whole list is ordered.
    """
    keys, back = listing.keys(user, filter_), set(_returned(user, filter_))
    if not back:
        return next(in_batches(cards, keys[begin:end]), cards.none()), begin
    skipped = max(0, begin - len(back))
    if len(back) + end - skipped > KEYS:
        return cards, 0
    others = [key for key in keys[: end + len(back)] if key not in back]
    return next(in_batches(cards, back.union(others[skipped:end])), cards.none()), skipped


def _returned(user: User, filter_: Filter | None) -> QuerySet[Card, int]:
    states = returned(user, inbox=filter_ is None)
    back = Card.objects.filter(msgid__in=states.values("msgid"))
    return back.values_list("pk", flat=True)
