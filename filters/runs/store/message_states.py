"""Which messages a person does not see in their lists: done, snoozed, or of a muted thread.

Whether a message is snoozed is asked of the clock when a list is shown: no task brings it back.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from filters.inbox.models import Card, MessageState, Mute
from filters.people.models import User
from tapestry.core.clock import wall_clock


@dataclass(frozen=True, slots=True)
class ReadingState:
    """What a person did with a message, and whether it is in their lists or would be.

    ``snoozed_until`` is None unless it is in the future.
    """

    is_listed: bool = False
    is_done: bool = False
    is_starred: bool = False
    is_muted: bool = False
    snoozed_until: int | None = None


def is_hidden() -> Q:
    """Return the condition that a message, by its state, is in no list now."""
    return Q(done_at__isnull=False) | Q(snoozed_until__gt=wall_clock())


def is_hidden_from(user: User) -> Exists:
    """Return the condition that a card, or match, is of a message in no list of a person now."""
    return Exists(MessageState.objects.filter(is_hidden(), owner=user, msgid=OuterRef("msgid")))


def returned(user: User) -> QuerySet[MessageState]:
    """Return the states of messages that a person had snoozed, and that are back."""
    return MessageState.objects.filter(
        owner=user, snoozed_until__lte=wall_clock(), done_at=None
    ).order_by()


def muted_roots(user: User) -> QuerySet[Mute, Any]:
    """Return the roots of the threads that a person has muted."""
    return Mute.objects.filter(owner=user).values("root")


def hidden_match() -> Exists:
    """Return the condition that the owner of a match's filter does not see its message now."""
    same = MessageState.objects.filter(owner=OuterRef("filter__owner"), msgid=OuterRef("msgid"))
    return Exists(same.filter(is_hidden()))


def states(user: User, msgids: Collection[str]) -> dict[str, MessageState]:
    """Return what a person did with some messages, of which they did anything, by msgid."""
    rows = MessageState.objects.filter(owner=user, msgid__in=msgids)
    return {state.msgid: state for state in rows}


def reading_state(
    user: User, msgid: str, audiences: Collection[str], *, is_listed: bool
) -> ReadingState:
    """Return what a person, who sees these audiences, did with one message."""
    state = states(user, [msgid]).get(msgid)
    seen = Card.objects.filter(msgid=msgid, audience__in=audiences)
    roots = seen.exclude(root="").values("root")
    later = state is not None and (state.snoozed_until or 0) > wall_clock()
    return ReadingState(
        is_listed=is_listed,
        is_done=state is not None and state.done_at is not None,
        is_starred=state is not None and state.starred_at is not None,
        is_muted=Mute.objects.filter(owner=user, root__in=roots).exists(),
        snoozed_until=state.snoozed_until if later and state is not None else None,
    )
