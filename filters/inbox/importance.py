"""The order of a list: the newest first, or by importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from filters.authoring.models import Filter
from filters.inbox.appraisal.order import ByImportance, is_ready
from filters.inbox.appraisal.upkeep import why_not
from filters.inbox.lists import listing
from filters.inbox.lists.rows import Row
from filters.inbox.models import AppraiserRule, Match
from filters.people.models import User


@dataclass(frozen=True, slots=True)
class Order:
    """The order that was asked for: ``by_importance``, and whether it can be given, or why not.

    Until all scores are computed the newest are first.
    """

    by_importance: bool
    has_rules: bool = False
    is_ready: bool = False
    why_not: str = ""

    @property
    def is_by_importance(self) -> bool:
        return self.by_importance and self.has_rules and self.is_ready


def order_of(user: User, *, by_importance: bool) -> Order:
    if not by_importance:
        return Order(by_importance=False)
    has_rules = AppraiserRule.objects.filter(owner=user).exists()
    return Order(by_importance, has_rules, has_rules and is_ready(user), why_not(user))


def ordered(user: User, filter_: Filter | None, count: int) -> ByImportance:
    """Return the cards of a list, of which the length is ``count``, by importance."""
    cards, matches = listing.cards(user, filter_), Match.objects.in_list(user, filter_)
    return ByImportance(user, cards, matches, count=count)


def undated(rows: Sequence[Row]) -> list[Row]:
    """Return lines without their days: in this order those of a day do not stand together."""
    return [replace(row, day=None, block=None) for row in rows]
