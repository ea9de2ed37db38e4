"""Where messages stand in the lists of a person: which filters found them, and on which shelf."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from filters.inbox.models import Match, MessageState, muted_roots
from filters.people.models import User
from tapestry.core.clock import BEGINNING, wall_clock


@dataclass(frozen=True, slots=True)
class Standing:
    """The names of a person's filters that show a message, and of the shelves that it is on."""

    filters: tuple[str, ...] = ()
    shelves: tuple[str, ...] = ()
    unread: bool = False
    is_starred: bool = False


def standings(user: User, msgids: Collection[str]) -> dict[str, Standing]:
    """Return where messages stand, by msgid, in three queries; all others stand nowhere."""
    matches = Match.objects.visible_to(user).filter(msgid__in=msgids)
    found: dict[str, list[Match]] = defaultdict(list)
    for match in matches.select_related("filter", "card").order_by("filter__name"):
        found[match.msgid].append(match)
    roots = {match.card.root for same in found.values() for match in same if match.card}
    muted = set(muted_roots(user).filter(root__in=roots).values_list("root", flat=True))
    states = MessageState.objects.of_messages(user, msgids)
    return {
        msgid: _standing(found[msgid], states.get(msgid), muted)
        for msgid in found.keys() | states.keys()
    }


def _standing(matches: list[Match], state: MessageState | None, muted: set[str]) -> Standing:
    is_done = state is not None and state.done_at is not None
    until = BEGINNING if state is None else state.snoozed_until or BEGINNING
    is_snoozed = not is_done and until > wall_clock()
    is_muted = any(match.card is not None and match.card.root in muted for match in matches)
    is_skipped = state is not None and state.skipped_at is not None
    shelves = {"done": is_done, "snoozed": is_snoozed, "muted": is_muted}
    shelves |= {"not in the inbox": is_skipped and not is_done}
    is_hidden = is_done or is_snoozed
    return Standing(
        tuple(match.filter.display_name for match in matches),
        tuple(name for name, is_on in shelves.items() if is_on),
        any(match.read_at is None for match in matches) and not is_hidden,
        state is not None and state.starred_at is not None,
    )
