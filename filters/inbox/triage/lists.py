"""The lists of what a person did with messages, and the cards of any list, to select them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    Case,
    Exists,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from filters.authoring.models import Filter
from filters.inbox.lists import listing
from filters.inbox.models import Card, MessageState, Selection, SelectionPart
from filters.people.models import User
from filters.site.work.db.batching import BATCH_SIZE, batched
from tapestry.core.clock import DAY, wall_clock

KEPT = DAY
"""For how long a selection is kept."""

MOST_SELECTIONS = 20
"""Selections of a person that are kept: the newest."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """A list of messages by what a person did with them.

    ``field`` is when that was; ``heading`` says it before a day.
    """

    name: str
    title: str
    about: str
    empty: str
    heading: str
    field: str = ""

    @property
    def order(self) -> tuple[str, str]:
        return (
            ("snoozed_until", "pk") if self.field == "snoozed_until" else (f"-{self.field}", "-pk")
        )


SHELVES = {
    shelf.name: shelf
    for shelf in (
        Shelf(
            "starred",
            "Starred",
            "What you marked with a star",
            "Nothing is starred. Star a message to find it here.",
            "Starred",
            "starred_at",
        ),
        Shelf(
            "snoozed",
            "Snoozed",
            "Messages that come back later as unread",
            "Nothing is snoozed. Snooze a message, and it comes back when you say.",
            "Returning",
            "snoozed_until",
        ),
        Shelf(
            "done",
            "Done",
            "What you are done with; new replies come to your inbox",
            "Nothing is done yet. A message that is done leaves your inbox and is kept here.",
            "Done",
            "done_at",
        ),
        Shelf(
            "muted",
            "Muted",
            "Messages of muted threads; they stay out of your inbox",
            "No thread is muted. New messages of a muted thread stay out of your inbox.",
            "Matched",
        ),
    )
}
"""By name, as addresses have it."""


def seen_states(user: User) -> QuerySet[MessageState]:
    """Return what a person did with the messages of which they may see any copy.

    ``card_key`` is that of the copy that stands for the message: the one that they saw if they
    still may, else the narrowest.
    """
    copies = Card.objects.visible_to(user).filter(msgid=OuterRef("msgid"))
    width = Case(
        When(audience__startswith="user:", then=Value(0)),
        When(audience__startswith="group:", then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    same = copies.filter(audience=OuterRef("audience")).values("pk")
    narrowest = copies.annotate(width=width).order_by("width", "audience").values("pk")[:1]
    states = MessageState.objects.filter(Exists(copies), owner=user)
    return states.annotate(card_key=Coalesce(Subquery(same), Subquery(narrowest)))


def states_of(user: User, shelf: Shelf) -> QuerySet[MessageState]:
    """Return the states of the messages on a shelf, in order."""
    states = seen_states(user)
    if shelf.field == "snoozed_until":
        return states.filter(snoozed_until__gt=wall_clock()).order_by(*shelf.order)
    return states.filter(**{f"{shelf.field}__isnull": False}).order_by(*shelf.order)


def among_messages(states: QuerySet[MessageState], cards: Sequence[Card]) -> list[Any]:
    """Return those of ``seen_states`` that are of the messages of some cards."""
    msgids = sorted({card.msgid for card in cards})
    return [state for batch in batched(msgids) for state in states.filter(msgid__in=batch)]


def cards_of(states: Sequence[MessageState]) -> list[Card]:
    """Return the cards of the copies that stand for ``seen_states``, in the same order."""
    annotated: Sequence[Any] = states
    keys = [state.card_key for state in annotated]
    known = Card.objects.in_bulk(keys)
    return [known[key] for key in keys if key in known]


def all_cards_of(states: QuerySet[Any]) -> QuerySet[Card]:
    """Return the cards of the copies that stand for ``seen_states``, in no order."""
    return Card.objects.filter(pk__in=states.order_by().values("card_key"))


def cards_in(user: User, name: str, filter_: Filter | None) -> QuerySet[Card]:
    """Return the messages of a list now: the inbox, a filter's, or a shelf."""
    if name == "muted":
        return listing.cards(user, muted=True)
    if name in SHELVES:
        return all_cards_of(states_of(user, SHELVES[name]))
    return listing.cards(user, filter_)


def select(user: User, cards: QuerySet[Card]) -> Selection:
    """Keep which messages are in a list at this moment."""
    return select_keys(user, list(cards.order_by().values_list("pk", flat=True)))


def select_keys(user: User, keys: Sequence[int]) -> Selection:
    """Keep messages, by the keys of their cards; forget selections of yesterday."""
    now = wall_clock()
    own = Selection.objects.filter(owner=user)
    newest = own.order_by("-at", "pk").values_list("pk", flat=True)
    others = list(newest[MOST_SELECTIONS - 1 :])  # not one that another tab makes now
    own.filter(Q(at__lt=now - KEPT) | Q(pk__in=others)).delete()
    selection = Selection.objects.create(owner=user, at=now, count=len(keys))
    SelectionPart.objects.bulk_create(
        SelectionPart(selection=selection, cards=batch)
        for batch in batched(sorted(keys), BATCH_SIZE)
    )
    return selection
