"""What the message page shows: the message, its thread, its votes and tags, its matches."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from filters.accounts import people
from filters.inbox import listing
from filters.inbox.origin import Origin, origin_of
from filters.inbox.sentences import sentences
from filters.models import Match, OutboxAnnotation
from filters.runtime import services
from tapestry.core.content import is_copy
from tapestry.core.message import Annotation, Message
from tapestry.deliver.annotations import AnnotationSummary, may_be_public, summarize
from tapestry.tables.originals import problems_of
from tapestry.tables.read import (
    Card,
    Copy,
    annotations_on,
    copies,
    read_copy,
    same_message_id,
)
from tapestry.tables.thread import ThreadEntry, thread


@dataclass(frozen=True, slots=True)
class Reading:
    """A copy of a message as one reader may see it; ``my_vote`` is 1, -1 or 0.

    ``others`` are the audiences of its other copies, ``same_id`` other messages that have its
    Message-ID; ``came_later`` says that it is not the first of them.  ``origin`` says where this
    copy came from.  ``explanations`` are the reader's matches,
    present and retracted, with their evidence in words.  ``problems`` says what could not be
    read of it; None if its original was not kept.
    """

    message: Message
    ts: int
    others: tuple[str, ...]
    same_id: tuple[Card, ...]
    came_later: bool
    origin: Origin
    thread: tuple[ThreadEntry, ...]
    annotations: AnnotationSummary
    my_vote: int
    my_tags: tuple[str, ...]
    may_be_public: bool
    explanations: tuple[tuple[Match, list[str]], ...]
    problems: tuple[str, ...] | None


def find(user: User, msgid: str, audience: str | None = None) -> list[Copy]:
    """Return the copies that a reader may see, the narrowest first.

    Of a named ``audience`` its copy is the first; none are returned if that is not there, or not
    theirs to see: another copy must not stand in for it.
    """
    visible = copies(services.tables(), msgid, people.audiences(user))
    if not audience:
        return visible
    named = [copy for copy in visible if copy.audience == audience]
    return named and named + [copy for copy in visible if copy.audience != audience]


def read(user: User, msgid: str, audience: str | None = None) -> Reading | None:
    """Return a message for a reader, or None where it is not there or not theirs to see.

    It is the copy for ``audience``; where none is named, the narrowest.
    """
    visible = find(user, msgid, audience)
    row = read_copy(msgid, visible[0]) if visible else None
    if row is None:
        return None
    audiences = people.audiences(user)
    name = user.get_username()
    summary = summarize(_annotations(msgid, audiences))
    return Reading(
        message=row.message,
        ts=row.ts,
        others=tuple(copy.audience for copy in visible[1:]),
        same_id=tuple(same_message_id(services.tables(), [msgid], audiences).get(msgid, ())),
        came_later=is_copy(msgid),
        origin=origin_of(user, row.message, visible[0]),
        thread=tuple(thread(services.tables(), msgid, audiences)),
        annotations=summary,
        my_vote=(name in summary.voted_for) - (name in summary.voted_against),
        my_tags=tuple(tag for tag, owners in summary.tags if name in owners),
        may_be_public=may_be_public(row.message.audience),
        problems=problems_of(services.tables(), msgid, visible[0]),
        explanations=tuple(
            (match, sentences(match.evidence_rows, audiences))
            for matches in (listing.visible(user), listing.visible(user, retracted=True))
            for match in matches.filter(msgid=msgid)
            .select_related("filter")
            .order_by("filter__name")
        ),
    )


def _annotations(msgid: str, audiences: tuple[str, ...]) -> list[Annotation]:
    stored = [row.annotation for row in annotations_on(services.tables(), [msgid], audiences)]
    waiting = OutboxAnnotation.objects.filter(msgid=msgid, audience__in=audiences)
    return stored + [
        annotation.as_annotation() for annotation in waiting.select_related("owner").order_by("pk")
    ]
