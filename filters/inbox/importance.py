"""The order of a list: the newest first, or by importance."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Max, Q, QuerySet

from filters.authoring.models import Filter
from filters.inbox import conversation_pages
from filters.inbox.appraisal.order import mark_of, ordered, with_importance
from filters.inbox.appraisal.rules import Rule, rules_of
from filters.inbox.appraisal.scores import next_turn
from filters.inbox.appraisal.upkeep import why_not
from filters.inbox.conversation_pages import PAGE, Shown
from filters.inbox.lists import conversations, listing
from filters.inbox.lists.conversations import firsts, in_order, kept
from filters.inbox.lists.rows import placed, rows_of
from filters.inbox.models import AppraiserRule, Match, returned
from filters.people.models import User
from tapestry.core.clock import wall_clock


@dataclass(frozen=True, slots=True)
class Order:
    """The order that was asked for: ``by_importance``, and whether it can be given, or why not.

    Until all scores are computed the newest are first.  ``mark`` changes whenever one does.
    """

    by_importance: bool
    has_rules: bool = False
    mark: str | None = None
    why_not: str = ""

    @property
    def is_ready(self) -> bool:
        return self.mark is not None

    @property
    def is_by_importance(self) -> bool:
        return self.by_importance and self.has_rules and self.is_ready


def order_of(user: User, *, by_importance: bool) -> Order:
    if not by_importance:
        return Order(by_importance=False)
    has_rules = AppraiserRule.objects.filter(owner=user).exists()
    return Order(by_importance, has_rules, mark_of(user) if has_rules else None, why_not(user))


def list_page(
    user: User, filter_: Filter | None, number: str | None, mark: str, order: Order
) -> Shown:
    """Return a page of a list by importance, and its lines; ``mark`` is that of all lists.

    The lines have no days: in this order those of a day do not stand together.
    """
    what = "conversations" if user.conversations else "messages"
    name = f"{what} of {filter_ and filter_.pk} by importance"
    rules = rules_of(user)
    marks = repr((mark, order.mark, [(rule.weight, rule.meaning) for rule in rules]))
    made = kept(user, name, marks, lambda: made_order(user, filter_, rules, wall_clock()))
    page: Any = Paginator(made.heads, PAGE).get_page(number)
    found: Any = in_order(listing.cards(user, filter_), list(page))
    matches = Match.objects.in_list(user, filter_).order_by()
    cards: Any = with_importance(user, rules, found, matches, wall_clock())
    if user.conversations:
        rows = conversation_pages.lines(user, cards, filter_)
    else:
        lines = zip(rows_of(user, cards, filter_), cards, strict=True)
        rows = [placed(line, card.moved_at) for line, card in lines]
    return page, [replace(row, day=None, block=None) for row in rows]


def made_order(
    user: User, filter_: Filter | None, rules: Sequence[Rule], now: int
) -> conversations.Order:
    """Return the order of a list by importance at an instant: of messages, or of conversations.

    A conversation stands where the most important of its messages does, and what is pinned as it
    does in the inbox by date.
    """
    received = array("q")
    listed = Match.objects.in_list(user, filter_)
    back = returned(user, inbox=True).filter(pinned_at__isnull=False)
    is_pinned = Q(msgid__in=back.values("msgid"))
    top = listed.filter(is_pinned) if filter_ is None else listed.none()
    pinned = listing.ordered_matches(top, user, back).annotate(received=Max("card__received"))

    def places(rows: QuerySet[Any, Any]) -> Iterator[conversations.Place]:
        named = rows.annotate(conversation=Max(listing.thread("card__")))
        columns = ("card", "conversation", "received")
        for key, name, instant in named.values_list(*columns).iterator(chunk_size=10_000):
            received.append(instant)
            yield key, name if user.conversations else str(key)

    heads = array("q", firsts(chain(places(pinned), places(ordered(user, rules, listed, now)))))
    turn = next_turn(rules, sorted(received), now)
    return conversations.Order(heads, during=range(now, turn))
