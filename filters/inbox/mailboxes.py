"""The lists of a person as the mailboxes of mail programs: what is in them, read, and starred.

IMAP, JMAP ─> mailboxes ─┬─ names ─> lists, as the pages have them ─> keys of cards
├─ flags <─> read or unread, starred or not, tagged or not, as the pages do it
└─ originals, of what the person may see now
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Max

from filters.authoring.models import Filter
from filters.inbox.counts import mark_of
from filters.inbox.models import Card, Match, MessageState
from filters.inbox.triage import lists
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target, act
from filters.people.models import User
from filters.reading.annotations.keywords import keywords, tell
from filters.reading.models import OutboxAnnotation
from filters.reading.tasks import append_soon
from filters.site.work.db.batching import batched, in_batches
from filters.site.work.parts import services
from tapestry.tables.read.originals import raws_of
from tapestry.tables.rows import ORIGINALS

SHELVES = {"INBOX": "inbox", "Starred": "starred", "Done": "done"}
"""The names of the mailboxes that everybody has, and the lists that they show."""

NOT_KEPT = b"Subject: (no original)\r\n\r\nThe original of this message is not kept here.\r\n"

MOST_BYTES = 32 * 1024 * 1024
"""Bytes of originals that are held for one call, but for a single one that is larger."""

MOST_TAGGED = 200
"""Messages of which one command changes the tags."""

_ACTIONS = {"read": ("read", "unread"), "starred": ("star", "unstar")}


@dataclass(frozen=True, slots=True)
class Flags:
    """Which messages of a person are unread, and which starred, by the keys of their cards."""

    unread: frozenset[int]
    starred: frozenset[int]


def mark(user: User) -> str:
    """Return a text that changes whenever a list of a person does, or what they tagged."""
    last = OutboxAnnotation.objects.filter(owner=user).aggregate(last=Max("pk"))["last"]
    return f"{mark_of(user)} {last}"


def filters_of(user: User) -> list[Filter]:
    """Return the filters whose lists are mailboxes of a person."""
    return list(Filter.objects.filter(owner=user).only("name").order_by("name"))


def cards_in(user: User, shelf: str, filter_: Filter | None = None) -> set[int]:
    """Return the keys of what is in a mailbox now: a shelf of SHELVES, or the list of a filter."""
    if shelf in lists.SHELVES:
        cards = lists.cards_in(user, shelf, None)
        return set(cards.order_by().values_list("pk", flat=True))
    matches = Match.objects.in_list(user, filter_).order_by()
    return {card for card in matches.values_list("card", flat=True) if card is not None}


def flags_of(user: User, filter_: Filter | None = None) -> Flags:
    """Return the flags of a person's messages; ``filter_``: unread is what this one found."""
    unread = Match.objects.visible_to(user).filter(read_at=None)
    if filter_ is not None:
        unread = unread.filter(filter=filter_)
    starred = MessageState.objects.filter(owner=user, starred_at__isnull=False)
    cards = Card.objects.filter(msgid__in=starred.values("msgid"))
    return Flags(
        frozenset(unread.order_by().values_list("card", flat=True)),
        frozenset(cards.values_list("pk", flat=True)),
    )


def set_flag(user: User, flag: str, cards: Collection[int], *, to: bool) -> None:
    """Mark messages ``read``, or ``starred``, or take that back, as the pages do."""
    targets = [
        Target(*row)
        for batch in in_batches(Card.objects.visible_to(user), cards)
        for row in batch.values_list("msgid", "audience", "root")
    ]
    if targets:
        act(user, ACTIONS[_ACTIONS[flag][0 if to else 1]], targets)


def tags_of(user: User) -> dict[int, frozenset[str]]:
    """Return what a person tagged messages with, of those that have tags, by the keys of cards."""
    tags = {msgid: frozenset(names.values()) for msgid, names in keywords(user).items() if names}
    return {
        card: tags[msgid]
        for batch in batched(tags)
        for card, msgid in Card.objects.filter(msgid__in=batch).values_list("pk", "msgid")
    }


def tag(user: User, changes: Mapping[int, Iterable[tuple[str, bool]]]) -> None:
    """Tag messages, by the keys of their cards, or take that back, as the pages do."""
    for batch in in_batches(Card.objects.visible_to(user), changes):
        for card, msgid, audience in batch.values_list("pk", "msgid", "audience"):
            for name, to in changes[card]:
                tell(user, msgid, audience, name, to)
    if changes:
        append_soon()


def batch_of_originals(user: User, keys: Collection[int]) -> dict[int, bytes]:
    """Return ``originals`` of some messages, as many as MOST_BYTES hold, and at least the first."""
    raws: dict[int, bytes] = {}
    size = 0
    for key, raw in originals(user, keys):
        raws[key] = raw
        size += len(raw)
        if size > MOST_BYTES:
            break
    return raws


def originals(user: User, keys: Collection[int]) -> Iterator[tuple[int, bytes]]:
    """Yield what was kept of messages that a person may see now, by the keys of their cards.

    All that they may see comes, in no order: an original that was not kept is empty, and last.
    """
    cards = {
        (msgid, audience, ts): card
        for batch in in_batches(Card.objects.visible_to(user), keys)
        for msgid, audience, ts, card in batch.values_list("msgid", "audience", "ts", "pk")
    }
    missing = set(cards.values())
    for place, raw in raws_of(services.tables().data_files(ORIGINALS), cards.keys()):
        missing.discard(cards[place])
        yield cards[place], raw
    for key in missing:
        yield key, b""
