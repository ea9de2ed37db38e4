"""What a reader did with the message that is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

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
    is_pinned: bool = False
    is_muted: bool = False
    is_skipped: bool = False
    snoozed_until: int | None = None


def reading_state(
    user: User, msgid: str, audiences: Collection[str], *, is_listed: bool
) -> ReadingState:
    """Return what a person, who sees these audiences, did with one message."""
    state = MessageState.objects.of_messages(user, [msgid]).get(msgid)
    seen = Card.objects.filter(msgid=msgid, audience__in=audiences)
    roots = seen.exclude(root="").values("root")
    later = state is not None and (state.snoozed_until or 0) > wall_clock()
    return ReadingState(
        is_listed=is_listed,
        is_done=state is not None and state.done_at is not None,
        is_starred=state is not None and state.starred_at is not None,
        is_pinned=state is not None and state.pinned_at is not None,
        is_skipped=state is not None and state.skipped_at is not None,
        is_muted=Mute.objects.filter(owner=user, root__in=roots).exists(),
        snoozed_until=state.snoozed_until if later and state is not None else None,
    )
