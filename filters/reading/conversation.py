"""The conversation around an open message: what comes before and after it, and what is unread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from filters.inbox.models import Match
from filters.people.models import User
from tapestry.tables.read.messages import Card
from tapestry.tables.read.thread import ThreadEntry

NEAREST_BEFORE, NEAREST_AFTER = 3, 50
"""Messages before and after the open one that its page names; the others when it is asked.

Those before it are as few as leave its head on the screen of a phone.
"""


@dataclass(frozen=True, slots=True)
class Folded:
    """A message of a conversation as one line, which is read once it is unfolded."""

    entry: ThreadEntry
    is_unread: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages around the open one, which is the ``position``-th of ``length``, in order.

    ``before`` and ``after`` are those that are shown, ``more_before`` and ``more_after`` how many
    are left out.  ``goes_on``: it has messages that not even ``length`` counts.
    """

    before: tuple[Folded, ...] = ()
    after: tuple[Folded, ...] = ()
    more_before: int = 0
    more_after: int = 0
    position: int = 1
    length: int = 1
    previous: Card | None = None
    next: Card | None = None
    is_cut_above: bool = False
    goes_on: bool = False


def conversation(
    user: User, msgid: str, thread: Sequence[ThreadEntry], *, shows_all: bool = False
) -> Conversation:
    """Return the conversation around a message of a thread, in one query."""
    at = next((at for at, entry in enumerate(thread) if entry.card.msgid == msgid), None)
    if at is None:
        return Conversation()
    first = 0 if shows_all else max(0, at - NEAREST_BEFORE)
    last = len(thread) if shows_all else min(len(thread), at + 1 + NEAREST_AFTER)
    shown = [entry.card.msgid for entry in thread[first:last]]
    unread = Match.objects.visible_to(user).filter(msgid__in=shown, read_at=None)
    unread_ids = set(unread.values_list("msgid", flat=True))
    folded = [Folded(entry, entry.card.msgid in unread_ids) for entry in thread[first:last]]
    return Conversation(
        before=tuple(folded[: at - first]),
        after=tuple(folded[at - first + 1 :]),
        more_before=first,
        more_after=len(thread) - last,
        position=at + 1,
        length=len(thread),
        previous=thread[at - 1].card if at else None,
        next=thread[at + 1].card if at + 1 < len(thread) else None,
        is_cut_above=thread[0].parent is not None,
        goes_on=any(entry.goes_on for entry in thread),
    )
