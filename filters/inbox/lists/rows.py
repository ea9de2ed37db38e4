"""The lines of a list: what each shows of a message, or of all of a conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.core.paginator import Page
from django.db.models import Count, Q

from filters.authoring.models import Filter
from filters.inbox.lists.days import local_day
from filters.inbox.lists.sentences import sentences
from filters.inbox.models import TOP, Card, Match, MessageState, muted_roots
from filters.people import people
from filters.people.models import User
from filters.people.names.source_names import import_words
from filters.site.templatetags.mail import row_id
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.tables.read.messages import same_message_id


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one import in a list that matched as they came, and how many they are.

    ``words`` say which import it is, as far as its reader may know.  Lines are messages, or
    conversations of which the first message matched so.
    """

    name: str
    words: str
    count: int
    what: str = "message"


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a line says of the messages of a list that are one conversation.

    ``key`` tells it from others in the list.  ``who`` names those who took part, in few words,
    and ``copies`` are the messages, the oldest first: the audience and msgid of each.
    """

    key: str
    who: str
    copies: tuple[tuple[str, str], ...]
    has_files: bool

    @property
    def count(self) -> int:
        return len(self.copies)

    @property
    def names(self) -> str:
        """The messages as a form names them, in one field."""
        return urlencode([(f"id:{audience}", msgid) for audience, msgid in self.copies])


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list: the message, whether it is unread, which filters it is in, and why.

    ``text`` is that which found it in the filter of the list, in the words of its match.
    ``moved_at`` is the instant at which it matched, or left in the list of those that left;
    ``day`` is the reader's day then.  ``block`` is that of an import, None for other messages.
    ``shares_id``: another message that the reader may see has its Message-ID.  ``returned_at``:
    when it came back, if it was snoozed.  ``is_at_top``: it is pinned to the top of the list,
    and of no day.  ``conversation`` is what the line stands for where lines are conversations:
    all but ``card``, ``text`` and ``explanation`` is then of all its messages.
    """

    card: Card
    unread: bool
    names: tuple[str, ...]
    text: str
    explanation: str
    moved_at: int
    day: date | None
    block: Block | None
    shares_id: bool
    is_starred: bool
    is_muted: bool
    returned_at: int | None
    conversation: Conversation | None = None
    is_at_top: bool = False

    @property
    def key(self) -> str:
        """What tells the line from others in a list, however its messages change."""
        if self.conversation is None:
            return row_id(self.card.msgid, self.card.audience)
        return self.conversation.key

    @property
    def section(self) -> date | str | None:
        """What lines have in common that stand together: their day, or the top."""
        return "top" if self.is_at_top else self.day

    def holds(self, msgid: str) -> bool:
        """Tell whether the line stands for a message, alone or among others."""
        if self.conversation is None:
            return self.card.msgid == msgid
        return any(msgid == other for _, other in self.conversation.copies)


def page_rows(
    user: User, page: Page[Card], filter_: Filter | None = None, *, retracted: bool = False
) -> list[Row]:
    """Return the lines of a list for one page of its cards.

    Those of the inbox are about all filters that found a message, those of ``filter_`` about
    that filter alone.
    """
    page_cards: list[Any] = list(page)
    named = {(card.day, card.block) for card in page_cards if card.block}
    blocks = _blocks(user, page.paginator.object_list, sorted(named))
    lines = rows_of(user, page_cards, filter_, retracted=retracted)
    return [
        placed(replace(line, block=blocks.get((card.day, card.block))), card.moved_at)
        for card, line in zip(page_cards, lines, strict=True)
    ]


def placed(line: Row, moved_at: int) -> Row:
    """Return a line that is at the top of a list, if that is where it came then."""
    return replace(line, is_at_top=True, day=None) if moved_at >= TOP else line


def _blocks(
    user: User, found: Any, named: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], Block]:
    """Return the blocks of a list that a page shows, by day and name, counted in one query."""
    if not named:
        return {}
    counts = found.order_by().aggregate(
        **{
            f"block_{number}": Count("pk", filter=Q(day=day, block=name))
            for number, (day, name) in enumerate(named)
        }
    )
    return {
        (day, name): Block(name, import_words(user, name), counts[f"block_{number}"])
        for number, (day, name) in enumerate(named)
    }


def rows_of(
    user: User,
    page: Sequence[Card],
    filter_: Filter | None = None,
    *,
    retracted: bool = False,
    moved_at: Mapping[str, int] | None = None,
) -> list[Row]:
    """Return the lines of some cards, which are in no block.

    ``moved_at`` is when each, by msgid, came into the list; without it, when it matched, came
    back, or left.
    """
    audiences, zone = people.audiences(user), user.zone
    by_card: dict[int, list[Match]] = defaultdict(list)
    visible = Match.objects.visible_to(user, retracted=retracted)
    matches = visible.filter(card__in=page).select_related("filter")
    if filter_ is not None:
        matches = matches.filter(filter=filter_)
    for match in matches.order_by("filter__name"):
        by_card[match.card_id or 0].append(match)
    msgids = [card.msgid for card in page]
    shared = same_message_id(services.tables(), msgids, audiences)
    known, now = MessageState.objects.of_messages(user, msgids), wall_clock()
    roots = muted_roots(user).filter(root__in={card.root for card in page})
    muted = set(roots.values_list("root", flat=True))
    return [
        _row(
            card,
            by_card[card.pk],
            audiences,
            zone,
            known.get(card.msgid),
            None if moved_at is None else moved_at[card.msgid],
            now,
            shares_id=card.msgid in shared,
            is_muted=card.root in muted,
        )
        for card in page
    ]


def _row(
    card: Card,
    matches: Sequence[Match],
    audiences: Sequence[str],
    zone: ZoneInfo,
    state: MessageState | None,
    moved_at: int | None,
    now: int,
    *,
    shares_id: bool,
    is_muted: bool,
) -> Row:
    evidence = [row for match in matches for row in match.evidence_rows]
    back_at = returned_at(state, now)
    if moved_at is None:
        instants = [
            match.matched_at if match.retracted_at is None else match.retracted_at
            for match in matches
        ]
        if back_at is not None:
            instants.append(back_at)
        moved_at = max(instants, default=card.ts)  # its matches left since the page was read
    first = matches[0] if matches else None
    return Row(
        card,
        any(match.read_at is None and match.retracted_at is None for match in matches),
        tuple(match.filter.display_name for match in matches),
        "" if first is None else first.explanation or first.filter.display_text,
        "; ".join(sentences(evidence, audiences)),
        moved_at,
        local_day(moved_at, zone),
        None,
        shares_id,
        is_starred=state is not None and state.starred_at is not None,
        is_muted=is_muted,
        returned_at=back_at,
    )


def returned_at(state: MessageState | None, now: int) -> int | None:
    """Return when a message came back that was snoozed; None if it was not, or is done."""
    if state is None or state.done_at is not None or state.snoozed_until is None:
        return None
    return state.snoozed_until if state.snoozed_until <= now else None
