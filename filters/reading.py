"""What the message page shows: the message, its thread, how it stands, why it is here."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from filters import evidence, listing, parts, people
from filters.models import Match, PendingAnnotation
from tapestry.core.message import Annotation, Message
from tapestry.deliver.inbox import Standing, may_be_public, standing
from tapestry.tables.originals import problems_of
from tapestry.tables.read import annotations_on, message
from tapestry.tables.thread import ThreadEntry, thread


@dataclass(frozen=True, slots=True)
class Why:
    """One of the reader's filters that the message is in, or was in, and what made it match."""

    match: Match
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A message as one reader may see it; ``my_vote`` is 1, -1 or 0.

    ``problems`` says what could not be read of it; None if its original was not kept.
    """

    message: Message
    ts: int
    thread: tuple[ThreadEntry, ...]
    standing: Standing
    my_vote: int
    my_tags: tuple[str, ...]
    may_be_public: bool
    whys: tuple[Why, ...]
    problems: tuple[str, ...] | None


def read(user: User, msgid: str) -> Reading | None:
    """Return a message for a reader, or None where it is not there or not theirs to see."""
    audiences = people.audiences(user)
    row = message(parts.tables(), msgid, audiences)
    if row is None:
        return None
    name = user.get_username()
    stands = standing(_annotations(msgid, audiences))
    return Reading(
        message=row.message,
        ts=row.ts,
        thread=tuple(thread(parts.tables(), msgid, audiences)),
        standing=stands,
        my_vote=(name in stands.voted_for) - (name in stands.voted_against),
        my_tags=tuple(tag for tag, owners in stands.tags if name in owners),
        may_be_public=may_be_public(row.message.audience),
        problems=problems_of(parts.tables(), row),
        whys=tuple(
            Why(match, tuple(evidence.visible(match.because, audiences)))
            for matches in (listing.visible(user), listing.visible(user, gone=True))
            for match in matches.filter(msgid=msgid)
            .select_related("filter")
            .order_by("filter__name")
        ),
    )


def _annotations(msgid: str, audiences: tuple[str, ...]) -> list[Annotation]:
    """Return what was said of a message: what is in the table, then what waits to be."""
    stored = [row.annotation for row in annotations_on(parts.tables(), [msgid], audiences)]
    waiting = PendingAnnotation.objects.filter(msgid=msgid, audience__in=audiences)
    return stored + [
        each.as_annotation() for each in waiting.select_related("owner").order_by("pk")
    ]
