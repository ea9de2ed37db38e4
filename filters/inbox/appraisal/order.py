"""The order of a list by importance: the highest score first, then the newest, then the last key.

Scores are kept with an index.  The age of messages comes to the same for all of a span of time:
each span is read by that index, and they are merged.  A page asks which of the next best messages
the list has, and stops when it is full: what it costs follows the page, not the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import merge
from itertools import count, islice
from typing import Any

from django.db.models import QuerySet

from filters.inbox.appraisal.rules import Rule, rules_of
from filters.inbox.appraisal.scores import (
    Counts,
    Span,
    age_score,
    age_spans,
    importance,
    unread_score,
)
from filters.inbox.models import Appraisal, Appraiser, Card, Match
from filters.people import people
from filters.people.models import User
from filters.site.work.batching import in_batches
from tapestry.core.clock import wall_clock

FEW = 8000
"""Messages of a list up to which it is sorted as a whole."""

CHUNK = 200
"""Messages that are looked at first, at least; then ``GROWTH`` times as many, and so on.

The first time they are twice as many as are wanted: some are not in the list.
"""

GROWTH = 4

Place = tuple[int, int, int]
"""A message in the order: its score, when it was received and the key of its card, all negated."""


def is_ready(user: User) -> bool:
    """Tell whether all scores are those of the person's present rules and audiences."""
    appraiser = Appraiser.objects.filter(owner=user, is_ready=True).first()
    return appraiser is not None and appraiser.audiences == list(people.audiences(user))


class ByImportance:
    """A list by importance, for a Paginator: the cards of a page, each with ``importance``.

    ``cards`` are those of the list, ``matches`` the person's matches of these; ``count`` is how
    many cards these are, if that is known.  ``threads`` has the roots of those that were read.
    """

    def __init__(
        self,
        user: User,
        cards: QuerySet[Card],
        matches: QuerySet[Match],
        now: int | None = None,
        count: int | None = None,
    ) -> None:
        self.user, self.cards, self.matches = user, cards, matches
        self.now = wall_clock() if now is None else now
        self.rules: Sequence[Rule] = rules_of(user)
        self._count = count
        self.threads: dict[int, str] = {}

    def __len__(self) -> int:
        return self.count()

    def count(self) -> int:
        if self._count is None:
            self._count = self.cards.count()
        return self._count

    def __getitem__(self, part: slice) -> list[Card]:
        return self.cards_of(list(islice(self.keys(part.stop), part.start or 0, part.stop)))

    def cards_of(self, keys: Sequence[int]) -> list[Card]:
        """Return those of some cards that are in the list, in this order, with ``importance``."""
        found: dict[int, Any] = {card.pk: card for card in self.cards.filter(pk__in=keys)}
        page = [found[key] for key in keys if key in found]
        appraisals = Appraisal.objects.filter(owner=self.user, card__in=keys)
        counted = {row.card_id: Counts(row.votes or 0, row.replies or 0) for row in appraisals}
        new = self.matches.filter(read_at=None, card__in=keys)
        unread = set(new.values_list("card", flat=True))
        for card in page:
            card.block = ""
            counts = counted.get(card.pk, Counts())
            card.importance = importance(
                self.rules, card, counts, self.now, unread=card.pk in unread
            )
        return page

    def keys(self, wanted: int = 0) -> Iterator[int]:
        """Yield the keys of all cards, in order; so many are ``wanted``."""
        if self.count() <= FEW:
            received = dict(self.cards.order_by().values_list("pk", "received"))
            return (-key for _, _, key in sorted(self._places(received)))
        apart = self._unread if unread_score(self.rules) else {}
        places = sorted(self._places(apart))
        return (-key for _, _, key in merge(places, self._listed(apart, wanted)))

    def _places(self, received: Mapping[int, int]) -> Iterator[Place]:
        """Yield the places of some cards; one that was not appraised yet has no score."""
        weight = unread_score(self.rules)
        unread: Collection[int] = self._unread if weight else ()
        scores: dict[int, int] = {}
        appraised = Appraisal.objects.filter(owner=self.user).order_by()
        for batch in in_batches(Card.objects.order_by(), received):
            scores.update(appraised.filter(card__in=batch).values_list("card", "score"))
        for key, instant in received.items():
            total = scores.get(key, 0) + age_score(self._spans, instant)
            yield -(total + weight * (key in unread)), -instant, -key

    def _listed(self, apart: Collection[int], wanted: int) -> Iterator[Place]:
        """Yield the places of the cards that the list has, without some, best first."""
        return merge(*(self._listed_in(span, apart, wanted) for span in self._spans))

    def _listed_in(self, span: Span, apart: Collection[int], wanted: int) -> Iterator[Place]:
        """Yield those of one span, in which the kept scores make the order: an index has it."""
        appraisals = Appraisal.objects.filter(
            owner=self.user, received__gte=span.begin, received__lt=span.end
        )
        ordered = appraisals.order_by("-score", "-received", "-card").values_list(
            "score", "received", "card"
        )
        first, least = 0, max(CHUNK, 2 * wanted)
        for power in count():
            size = least * GROWTH ** min(power, 2)
            chunk = list(ordered[first : first + size])
            keys = [key for _, _, key in chunk]
            listed = {
                key
                for batch in in_batches(Card.objects.order_by(), keys)
                for key in self._of(batch)
            }
            for score, received, key in chunk:
                if key in listed and key not in apart:
                    yield -(score + span.score), -received, -key
            first += size
            if len(chunk) < size:
                return

    def _of(self, cards: QuerySet[Card]) -> list[int]:
        """Return the keys of those of some cards that the list has."""
        listed: Any = self.matches.order_by().filter(card__in=cards.values("pk"))
        rows = list(listed.values_list("card", "card__root", "msgid"))
        self.threads.update((key, root or msgid) for key, root, msgid in rows)
        return [key for key, _, _ in rows]

    @cached_property
    def _spans(self) -> list[Span]:
        return age_spans(self.rules, self.now)

    @cached_property
    def _unread(self) -> dict[int, int]:
        """When each unread card of the list was received, by its key."""
        new: Any = self.matches.order_by().filter(read_at=None, card__isnull=False)
        return dict(new.values_list("card", "card__received"))
