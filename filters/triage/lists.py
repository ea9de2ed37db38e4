"""The lists of what a person did with messages, and the cards of any list, to select them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from filters.accounts import people
from filters.lists import listing
from filters.models import Card, Filter, MessageState, Selection, SelectionPart
from filters.runtime.batching import BATCH_SIZE, batched
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


def states_of(user: User, shelf: Shelf) -> QuerySet[MessageState]:
    """Return the states of the messages on a shelf, in order."""
    states = MessageState.objects.filter(owner=user, audience__in=people.audiences(user))
    if shelf.field == "snoozed_until":
        return states.filter(snoozed_until__gt=wall_clock()).order_by(*shelf.order)
    return states.filter(**{f"{shelf.field}__isnull": False}).order_by(*shelf.order)


def cards_of(states: Sequence[MessageState]) -> list[Card]:
    """Return the cards of the copies that states are of, in the same order."""
    cards = Card.objects.filter(msgid__in={state.msgid for state in states})
    known = {(card.msgid, card.audience): card for card in cards}
    pairs = [(state.msgid, state.audience) for state in states]
    return [known[pair] for pair in pairs if pair in known]


def cards_in(user: User, name: str, filter_: Filter | None) -> QuerySet[Card]:
    """Return the messages of a list now: the inbox, a filter's, or a shelf."""
    if name == "muted":
        return listing.cards(user, muted=True)
    if name in SHELVES:
        states = states_of(user, SHELVES[name]).order_by()
        same = states.filter(msgid=OuterRef("msgid"), audience=OuterRef("audience"))
        return Card.objects.filter(Q(msgid__in=states.values("msgid")), Exists(same))
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
