"""What the message page shows: the message, its thread, its votes and tags, its matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from filters.inbox.lists.sentences import sentences
from filters.inbox.models import Card as StoredCard
from filters.inbox.models import Match
from filters.people import people
from filters.people.models import User
from filters.reading.annotations import outbox
from filters.reading.conversation import Conversation, conversation
from filters.reading.letters import letter_of, standing_mark
from filters.reading.origin import Origin, origin_of
from filters.reading.rendering.letter import Letter
from filters.reading.state import ReadingState, reading_state
from filters.site.work.parts import services
from tapestry.core.annotations import AnnotationSummary, may_be_public, standing, summarize
from tapestry.core.message import Annotation, Message
from tapestry.identity.content import is_copy
from tapestry.tables.read.messages import (
    Card,
    Copy,
    copies,
    read_copy,
    same_message_id,
)
from tapestry.tables.read.originals import problems_of
from tapestry.tables.read.thread import ThreadEntry, thread


@dataclass(frozen=True)
class Reading:
    """A copy of a message as one reader may see it.

    ``others`` are the audiences of its other copies.  ``shows_all``: its page names the whole
    conversation.  All else is read when it is asked for, once: a part of the page costs what it
    shows.
    """

    user: User
    copy: Copy
    message: Message
    ts: int
    others: tuple[str, ...]
    shows_all: bool = False

    @cached_property
    def letter(self) -> Letter:
        """Its text, and what there is beside it."""
        return letter_of(self.message, self.copy)

    @cached_property
    def thread(self) -> tuple[ThreadEntry, ...]:
        return tuple(thread(services.tables(), self.message.msgid, self._audiences))

    @cached_property
    def conversation(self) -> Conversation:
        """The messages around it."""
        msgid = self.message.msgid
        return conversation(self.user, msgid, self.thread, shows_all=self.shows_all)

    @cached_property
    def same_id(self) -> tuple[Card, ...]:
        """Other messages that have its Message-ID."""
        msgid = self.message.msgid
        others = same_message_id(services.tables(), [msgid], self._audiences)
        return tuple(others.get(msgid, ()))

    @property
    def came_later(self) -> bool:
        """Whether it is not the first that has its Message-ID."""
        return is_copy(self.message.msgid)

    @cached_property
    def origin(self) -> Origin:
        """Where this copy came from."""
        return origin_of(self.user, self.message, self.copy)

    @cached_property
    def problems(self) -> tuple[str, ...] | None:
        """What could not be read of it; None if its original was not kept."""
        return problems_of(services.tables(), self.message.msgid, self.copy)

    @cached_property
    def annotations(self) -> AnnotationSummary:
        """The annotations that stand."""
        return summarize(self._standing)

    @cached_property
    def mine(self) -> tuple[Annotation, ...]:
        """Those of the reader that stand."""
        name = self.user.get_username()
        return tuple(annotation for annotation in self._standing if annotation.owner == name)

    @property
    def why_not_shared(self) -> str:
        """Why what the reader says of it is kept, and not shared yet; empty if nothing is."""
        return outbox.why_not(self.user, self.message.msgid)

    @property
    def my_vote(self) -> int:
        """1, -1, or 0 for none."""
        name = self.user.get_username()
        return (name in self.annotations.voted_for) - (name in self.annotations.voted_against)

    @property
    def my_tags(self) -> tuple[str, ...]:
        name = self.user.get_username()
        return tuple(tag for tag, owners in self.annotations.tags if name in owners)

    @property
    def is_own(self) -> bool:
        """Whether the reader wrote it, by its sender."""
        return (self.message.sender or "") in people.addresses(self.user)

    @property
    def my_priority(self) -> int:
        """1 to 10, or 0 for none."""
        return dict(self.annotations.priorities).get(self.user.get_username(), 0)

    @property
    def may_be_public(self) -> bool:
        return may_be_public(self.message.audience)

    @cached_property
    def mark(self) -> str:
        """What changes when its votes and tags do."""
        return standing_mark(self.user, self.annotations)

    @cached_property
    def explanations(self) -> tuple[tuple[Match, list[str]], ...]:
        """The reader's matches, present and retracted, with their evidence in words."""
        return tuple(
            (match, sentences(match.evidence_rows, self._audiences))
            for retracted in (False, True)
            for match in Match.objects.visible_to(self.user, retracted=retracted)
            .filter(msgid=self.message.msgid)
            .select_related("filter")
            .order_by("filter__name")
        )

    @cached_property
    def state(self) -> ReadingState:
        """What the reader did with it: this copy is muted, or any if this was never in a list."""
        msgid, own = self.message.msgid, self.message.audience
        is_listed = Match.objects.visible_to(self.user).filter(msgid=msgid).exists()
        has_card = StoredCard.objects.filter(msgid=msgid, audience=own).exists()
        audiences = (own,) if has_card else self._audiences
        return reading_state(self.user, msgid, audiences, is_listed=is_listed)

    @cached_property
    def _audiences(self) -> tuple[str, ...]:
        return people.audiences(self.user)

    @cached_property
    def _standing(self) -> list[Annotation]:
        return _annotations(self.message.msgid, self._audiences)


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
    return read_first(user, msgid, find(user, msgid, audience), shows_all=shows_all)


def read_first(
    user: User, msgid: str, visible: Sequence[Copy], *, shows_all: bool = False
) -> Reading | None:
    """Return the first of the copies that a reader may see, or None if there is none."""
    row = read_copy(msgid, visible[0]) if visible else None
    if row is None:
        return None
    others = tuple(copy.audience for copy in visible[1:])
    return Reading(user, visible[0], row.message, row.ts, others, shows_all)


def summary_of(user: User, msgid: str) -> AnnotationSummary:
    """Return the votes, tags and notes of a message that a reader may see."""
    return summarize(_annotations(msgid, people.audiences(user)))


def _annotations(msgid: str, audiences: tuple[str, ...]) -> list[Annotation]:
    """Return the annotations of a message that stand, in their table or on their way there."""
    return standing(outbox.said_of(services.tables(), msgid, audiences))
