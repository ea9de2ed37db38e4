"""The order of a list by importance: the highest score first, then the newest, then the last key.

scores that are kept ─┐
what an age comes to ─┼─ one statement ─> messages in order, until one of them turns older
unread ───────────────┘
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Case, IntegerField, Max, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from filters.inbox.appraisal.rules import Rule
from filters.inbox.appraisal.scores import Counts, age_spans, importance, unread_score
from filters.inbox.models import Appraisal, Appraiser, Card, Match
from filters.people import people
from filters.people.models import User


def mark_of(user: User) -> str | None:
    """Return what changes whenever a score of a person's messages that is kept does.

    None until all scores are those of the present rules and audiences.
    """
    appraiser = Appraiser.objects.filter(owner=user, is_ready=True).first()
    if appraiser is None or appraiser.audiences != list(people.audiences(user)):
        return None
    return f"{appraiser.pk} {appraiser.computed}"


def is_ready(user: User) -> bool:
    """Tell whether all scores are those of the person's present rules and audiences."""
    return mark_of(user) is not None


def ordered(
    user: User, rules: Sequence[Rule], matches: QuerySet[Match], now: int
) -> QuerySet[Match, Any]:
    """Return the keys of the cards of a person's matches in order, with ``received``.

    One that was not appraised yet has no score.
    """
    number = IntegerField()
    own = Appraisal.objects.filter(owner=user, card=OuterRef("card"))
    score = Coalesce(Subquery(own.values("score")[:1]), Value(0))
    spans = [
        When(card__received__gte=span.begin, then=Value(span.score))
        for span in reversed(age_spans(rules, now))
    ]
    is_unread = When(read_at=None, then=Value(1))
    unread = Max(Case(is_unread, default=Value(0)), output_field=number)
    kept, aged = Max(score, output_field=number), Max(Case(*spans), output_field=number)
    return (
        matches.order_by()
        .values("card")
        .annotate(received=Max("card__received"))
        .annotate(total=kept + aged + unread * Value(unread_score(rules)))
        .order_by("-total", "-received", "-card")
    )


def with_importance(
    user: User, rules: Sequence[Rule], cards: Sequence[Any], matches: QuerySet[Match], now: int
) -> list[Card]:
    """Give cards, of which these are the person's matches in a list, their ``importance``."""
    keys = [card.pk for card in cards]
    appraisals = Appraisal.objects.filter(owner=user, card__in=keys)
    counted = {row.card_id: Counts(row.votes or 0, row.replies or 0) for row in appraisals}
    unread = set(matches.filter(read_at=None, card__in=keys).values_list("card", flat=True))
    for card in cards:
        counts = counted.get(card.pk, Counts())
        card.importance = importance(rules, card, counts, now, unread=card.pk in unread)
    return list(cards)
