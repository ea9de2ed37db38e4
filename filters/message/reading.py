"""What the message page shows: the message, its thread, its votes and tags, its matches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User

from filters.accounts import people
from filters.lists import listing
from filters.lists.sentences import sentences
from filters.message.conversation import Conversation, conversation
from filters.message.letters import letter_of, standing_mark
from filters.message.origin import Origin, origin_of
from filters.models import Match, OutboxAnnotation
from filters.reading.letter import Letter
from filters.runtime import services
from filters.store import message_states
from tapestry.core.content import is_copy
from tapestry.core.message import Annotation, Message
from tapestry.deliver.annotations import AnnotationSummary, may_be_public, standing, summarize
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


@dataclass(frozen=True)
class Reading:
    """A copy of a message as one reader may see it; ``my_vote`` is 1, -1 or 0.

    ``annotations`` and ``mine`` are those that stand; ``my_priority`` is 1 to 10, 0 if none.
    ``others`` are the audiences of its other copies, ``same_id`` other messages that have its
    Message-ID; ``came_later`` says that it is not the first of them.  ``origin`` says where this
    copy came from.  ``explanations`` are the reader's matches,
    present and retracted, with their evidence in words.  ``problems`` says what could not be
    read of it; None if its original was not kept.  ``state`` is what the reader did with it.
    ``shows_all``: its page names the whole conversation.
    """

    user: User
    copy: Copy
    message: Message
    ts: int
    others: tuple[str, ...]
    same_id: tuple[Card, ...]
    came_later: bool
    origin: Origin
    thread: tuple[ThreadEntry, ...]
    annotations: AnnotationSummary
    mine: tuple[Annotation, ...]
    my_vote: int
    my_tags: tuple[str, ...]
    my_priority: int
    may_be_public: bool
    explanations: tuple[tuple[Match, list[str]], ...]
    problems: tuple[str, ...] | None
    state: message_states.ReadingState
    shows_all: bool = False

    @cached_property
    def letter(self) -> Letter:
        """Its text, and what there is beside it."""
        return letter_of(self.message, self.copy)

    @cached_property
    def conversation(self) -> Conversation:
        """The messages around it."""
        msgid = self.message.msgid
        return conversation(self.user, msgid, self.thread, shows_all=self.shows_all)

    @cached_property
    def mark(self) -> str:
        """What changes when its votes and tags do."""
        return standing_mark(self.user, self.annotations)


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


def read(
    user: User, msgid: str, audience: str | None = None, *, shows_all: bool = False
) -> Reading | None:
    """Return a message for a reader, or None where it is not there or not theirs to see.

    It is the copy for ``audience``; where none is named, the narrowest.
    """
    visible = find(user, msgid, audience)
    row = read_copy(msgid, visible[0]) if visible else None
    if row is None:
        return None
    audiences = people.audiences(user)
    name = user.get_username()
    annotations = _annotations(msgid, audiences)
    summary = summarize(annotations)
    is_listed = listing.visible(user).filter(msgid=msgid).exists()
    return Reading(
        user=user,
        copy=visible[0],
        shows_all=shows_all,
        message=row.message,
        ts=row.ts,
        others=tuple(copy.audience for copy in visible[1:]),
        same_id=tuple(same_message_id(services.tables(), [msgid], audiences).get(msgid, ())),
        came_later=is_copy(msgid),
        origin=origin_of(user, row.message, visible[0]),
        thread=tuple(thread(services.tables(), msgid, audiences)),
        annotations=summary,
        mine=tuple(annotation for annotation in annotations if annotation.owner == name),
        my_vote=(name in summary.voted_for) - (name in summary.voted_against),
        my_tags=tuple(tag for tag, owners in summary.tags if name in owners),
        my_priority=dict(summary.priorities).get(name, 0),
        may_be_public=may_be_public(row.message.audience),
        problems=problems_of(services.tables(), msgid, visible[0]),
        explanations=tuple(
            (match, sentences(match.evidence_rows, audiences))
            for matches in (listing.visible(user), listing.visible(user, retracted=True))
            for match in matches.filter(msgid=msgid)
            .select_related("filter")
            .order_by("filter__name")
        ),
        state=message_states.reading_state(user, msgid, is_listed=is_listed),
    )


def summary_of(user: User, msgid: str) -> AnnotationSummary:
    """Return the votes, tags and notes of a message that a reader may see."""
    return summarize(_annotations(msgid, people.audiences(user)))


def _annotations(msgid: str, audiences: tuple[str, ...]) -> list[Annotation]:
    """Return the annotations of a message that stand, in their table or on their way there."""
    stored = [row.annotation for row in annotations_on(services.tables(), [msgid], audiences)]
    waiting = OutboxAnnotation.objects.filter(msgid=msgid, audience__in=audiences)
    return standing(
        [
            *stored,
            *(waits.as_annotation() for waits in waiting.select_related("owner").order_by("pk")),
        ]
    )
