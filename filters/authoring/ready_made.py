"""Filters that are there on a person's first day, to be changed or deleted as any other."""

from __future__ import annotations

from dataclasses import dataclass

from filters.authoring.lifecycle import install
from filters.authoring.models import READY_MADE, Filter
from filters.people.models import User

_WITHOUT = "not from programs, not on any list and not in any newsgroup"


@dataclass(frozen=True, slots=True)
class ReadyMade:
    """A live filter with its name, its text, and when it shows what it finds."""

    name: str
    title: str
    text: str
    timeliness: str


WAITING = ReadyMade(
    READY_MADE[0],
    "Waiting for an answer",
    "from me asking a question unanswered by others, newer than eight weeks, "
    f"not tagged settled by me, {_WITHOUT}",
    "after 3 working days",
)
OWED = ReadyMade(
    READY_MADE[1],
    "To be answered",
    "(only to me or (directly to me and mentioning me)) and asking a question "
    "and unanswered by me personally, newer than eight weeks, not from me, "
    f"not tagged settled by me, {_WITHOUT}",
    "",
)
REMINDERS = ReadyMade(
    READY_MADE[2], "Reminders", "tagged remind by me and unanswered by others", "at once"
)

OF_REMINDERS = {"mode": Filter.Mode.LIVE, "text__contains": "tagged remind by me"}
"""Which filters reminders go by, whatever their owner calls them, or a filter of their own."""


def missing(owner: User) -> list[ReadyMade]:
    """Return those of the shelves of answers that a person has not."""
    names = set(owner.filters.filter(name__in=READY_MADE).values_list("name", flat=True))
    return [made for made in (WAITING, OWED) if made.name not in names]


def add(owner: User, made: ReadyMade) -> Filter:
    """Return a filter of a person that is ready made; install it unless it is there.

    Raise TapestryError if they have as many filters as are allowed.
    """
    named = owner.filters.filter(name=made.name)
    there = named if made != REMINDERS else owner.filters.filter(**OF_REMINDERS)
    return there.first() or install(
        owner,
        made.text,
        name="" if named.exists() else made.name,
        title=made.title,
        mode=Filter.Mode.LIVE,
        timeliness=made.timeliness,
    )
