"""The lines of conversations: who took part, what is new, and which messages they stand for.

All is of those messages alone that are in the list: what a person is told of a conversation is
what their own filters found of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q

from filters.authoring.models import Filter
from filters.inbox.lists.days import local_day
from filters.inbox.lists.rows import Block, Conversation, Row, placed, returned_at, rows_of
from filters.inbox.models import TOP, Card, Match, MessageState
from filters.people import people
from filters.people.models import User
from filters.people.names.source_names import import_words
from filters.site.templatetags.mail import row_id
from filters.site.work.db.batching import batched, in_batches
from tapestry.core.clock import wall_clock

MOST_NAMES = 3
"""People who are named of those who took part."""

Among = Callable[[Sequence[Card]], set[int]]
"""Says which of some cards are in a list, by their keys."""


@dataclass(frozen=True, slots=True)
class Found:
    """What filters say of a card: whether it is unread, the names and titles of those it is in."""

    unread: bool
    by: frozenset[tuple[str, str]]


NOTHING = Found(unread=False, by=frozenset())


def conversation_rows(
    user: User,
    heads: Sequence[Any],
    among: Among,
    filter_: Filter | None = None,
    blocks: Mapping[tuple[int, str], int] | None = None,
) -> list[Row]:
    """Return the lines of conversations, each by the card of the message that stands first.

    Such a card has what puts it there: ``moved_at``, ``day`` and ``block``.  ``among`` says which
    messages are in the list, and ``blocks`` how many conversations are in each block.  A line
    opens, and shows, the newest unread message, or else the newest; a conversation that has left
    the list meanwhile has no line.
    """
    members, now = _members(user, heads, among), wall_clock()
    standing: list[Any] = [head for head in heads if _name(head) in members]
    found = _found(user, [card.pk for cards in members.values() for card in cards], filter_)
    shown = [_shown(members[_name(head)], found) for head in standing]
    states, own = _states(user, members), frozenset(people.addresses(user))
    rows: list[Row] = []
    for head, line in zip(standing, rows_of(user, shown, filter_), strict=True):
        vars(line.card)["importance"] = getattr(head, "importance", None)
        cards = members[_name(head)]
        of_all = [found.get(card.pk, NOTHING) for card in cards]
        back = [returned_at(states.get(card.msgid), now) for card in cards]
        made = replace(
            line,
            unread=any(of.unread for of in of_all),
            names=tuple(title for _, title in sorted({by for of in of_all for by in of.by})),
            moved_at=head.moved_at if head.moved_at < TOP else line.moved_at,
            day=local_day(head.moved_at, user.zone),
            block=_block(user, head, blocks),
            is_starred=any(_is_starred(states.get(card.msgid)) for card in cards),
            returned_at=max((at for at in back if at is not None), default=None),
            conversation=Conversation(
                row_id(_name(head), "conversation"),
                who_of(cards, own),
                tuple((card.audience, card.msgid) for card in cards),
                any(card.attachments for card in cards),
            ),
        )
        rows.append(placed(made, head.moved_at))
    return rows


def who_of(cards: Sequence[Card], own: Collection[str]) -> str:
    """Name the senders of messages in few words, in this order; ``own`` addresses are `me`.

    >>> mary, bill = Card(sender="m@x.org", sender_name="Mary Jones"), Card(sender="bill@x.org")
    >>> who_of([mary], []), who_of([mary, bill, mary], []), who_of([mary, bill], ["bill@x.org"])
    ('Mary Jones', 'Mary, bill', 'Mary, me')
    """
    people_of: dict[str, Card] = {}
    for card in cards:
        people_of.setdefault(card.sender.lower() or card.sender_name, card)
    is_one = len(people_of) == 1
    named = ["me" if who in own else _called(card, is_one) for who, card in people_of.items()]
    if len(named) <= MOST_NAMES:
        return ", ".join(named)
    return f"{named[0]} … {', '.join(named[1 - MOST_NAMES :])}"


def _called(card: Card, is_one: bool) -> str:
    """Return what a sender is called: all of the name, or the first of it beside others."""
    if is_one:
        return card.sender_name or card.sender or "(nobody)"
    words = card.sender_name.replace('"', " ").split()
    # "Jones, Mary" is called Mary.
    first = words[1] if len(words) > 1 and words[0].endswith(",") else "".join(words[:1])
    return first or card.sender.partition("@")[0] or "(nobody)"


def _name(card: Card) -> str:
    return card.root or card.msgid


def _members(user: User, heads: Sequence[Card], among: Among) -> dict[str, list[Card]]:
    """Return the cards of a list of the conversations of some, by their names, the oldest first."""
    names = list({_name(head) for head in heads})
    cards: list[Card] = []
    for batch in batched(names):
        same = Q(root__in=batch) | Q(root="", msgid__in=batch)
        cards += Card.objects.visible_to(user).filter(same)
    listed = among(cards)
    members: dict[str, list[Card]] = defaultdict(list)
    for card in sorted(cards, key=lambda card: (card.received, card.pk)):
        if card.pk in listed:
            members[_name(card)].append(card)
    return dict(members)


def _found(user: User, keys: Collection[int], filter_: Filter | None) -> dict[int, Found]:
    """Return what a person's filters, or one of them, say of some cards."""
    matches = Match.objects.visible_to(user).order_by()
    matches = matches if filter_ is None else matches.filter(filter=filter_)
    unread, by = set[int](), defaultdict[int, set[tuple[str, str]]](set)
    columns = ("card", "filter__name", "filter__title", "read_at")
    for cards in in_batches(Card.objects.order_by(), keys):
        rows: Any = matches.filter(card__in=cards.values("pk")).values_list(*columns)
        for key, name, title, read_at in rows:
            by[key].add((name, title or name))
            if read_at is None:
                unread.add(key)
    return {key: Found(key in unread, frozenset(names)) for key, names in by.items()}


def _shown(cards: Sequence[Card], found: Mapping[int, Found]) -> Card:
    """Return the card that a line shows and opens: of the newest unread one, else of the newest."""
    unread = [card for card in cards if found.get(card.pk, NOTHING).unread]
    return (unread or cards)[-1]


def _is_starred(state: MessageState | None) -> bool:
    return state is not None and state.starred_at is not None


def _block(user: User, head: Any, blocks: Mapping[tuple[int, str], int] | None) -> Block | None:
    """Return the block in which a conversation stands."""
    place = (getattr(head, "day", 0), getattr(head, "block", ""))
    if not blocks or place not in blocks:
        return None
    return Block(place[1], import_words(user, place[1]), blocks[place], "conversation")


def _states(user: User, members: Mapping[str, Sequence[Card]]) -> dict[str, MessageState]:
    msgids = sorted({card.msgid for cards in members.values() for card in cards})
    known: dict[str, MessageState] = {}
    for batch in batched(msgids):
        known |= MessageState.objects.of_messages(user, batch)
    return known
