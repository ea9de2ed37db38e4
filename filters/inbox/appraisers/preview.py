"""Today's first ten messages as the rules order them, computed as the page is shown."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from filters.inbox.appraisal.rules import Rule
from filters.inbox.appraisal.scores import Importance, importance
from filters.inbox.appraisal.upkeep import counts_of
from filters.inbox.models import Card, Match
from filters.people import people
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.core.clock import DAY, wall_clock

FIRST = 10

MOST = 1000
"""Messages of today that are looked at; of more, the newest."""


@dataclass(frozen=True, slots=True)
class Line:
    card: Card
    importance: Importance


def todays_first(user: User, rules: tuple[Rule, ...]) -> list[Line]:
    """Return the most important messages that a person's filters found in the last day."""
    now = wall_clock()
    matches = _of_today(user, now)
    cards = {match.card_id: match.card for match in matches[:MOST] if match.card}
    unread = {match.card_id for match in matches[:MOST] if match.read_at is None}
    msgids = {card.msgid for card in cards.values()}
    counts = counts_of(services.tables(), msgids, people.audiences(user))
    lines = [
        Line(card, importance(rules, card, counts[card.msgid], now, unread=key in unread))
        for key, card in cards.items()
    ]
    lines.sort(key=lambda line: (-line.importance.total, -line.card.received, -line.card.pk))
    return lines[:FIRST]


def _of_today(user: User, now: int) -> QuerySet[Match]:
    new = Match.objects.visible_to(user).filter(matched_at__gt=now - DAY)
    return new.select_related("card").order_by("-matched_at", "-pk")
