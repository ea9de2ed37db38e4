"""The mailboxes of a person: their names, and which messages are in them, under which UIDs.

list, as the pages have it ─ cards ─┬─ not in the mailbox yet ─> next UIDs ─┐
UIDs stored ────────────────────────┴─ no longer in the list ──> deleted ───┴─> letters
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from django.db import transaction
from pymap.flags import FlagOp
from pymap.parsing.specials import Flag
from pymap.parsing.specials.flag import Flagged, Seen

from filters.authoring.models import Filter
from filters.imap.letters import SYSTEM, KeptLetters, Letter, flags_of
from filters.imap.models import ImapFolder, ImapUid
from filters.imap.refusals import LimitError
from filters.inbox import mailboxes
from filters.inbox.mailboxes import MOST_TAGGED, SHELVES
from filters.inbox.models import Card
from filters.people.models import User
from filters.site.work.db.batching import in_batches
from tapestry.core.clock import SECOND, wall_clock
from tapestry.servers.imap_flags import is_tag

DELIMITER = "/"

FILTERS = f"Filters{DELIMITER}"
"""With which the name of the mailbox of a filter begins."""

_kept = KeptLetters()


def names(user: User) -> list[str]:
    """Return the names of a person's mailboxes."""
    own = mailboxes.filters_of(user)
    return [*SHELVES, *(f"{FILTERS}{filter_.name}" for filter_ in own)]


def folder_named(user: User, name: str) -> ImapFolder | None:
    """Return the mailbox of a name, which is made if need be; None if there is no such list."""
    key: dict[str, object] = {"owner": user, "shelf": SHELVES.get(name, ""), "filter": None}
    if not key["shelf"]:
        slug = name.removeprefix(FILTERS) if name.startswith(FILTERS) else ""
        key["filter"] = Filter.objects.filter(owner=user, name=slug).first()
        if key["filter"] is None:
            return None
    defaults = {"uid_validity": wall_clock() // SECOND}
    return ImapFolder.objects.get_or_create(**key, defaults=defaults)[0]


def letters(user: User, folder: ImapFolder, mark: str) -> list[Letter]:
    """Return what is in a mailbox now, by UID; what is new in the list gets its UID here.

    ``mark`` is that from before.  What is forgotten changes no mark, but takes its UID.
    """
    name = f"{folder.uid_validity} {mark}"
    state = f"{name} {folder.uids.count()}"
    known = _kept.get(folder.pk, state)
    if known is None:
        known = _read(user, folder)
        _kept.put(folder.pk, f"{name} {len(known)}", known)
    return known


def _read(user: User, folder: ImapFolder) -> list[Letter]:
    listed = mailboxes.cards_in(user, folder.shelf, folder.filter)
    stored = _stored(folder)
    if listed != {card for _, card, _ in stored}:
        _allot(folder, listed)
        stored = _stored(folder)
    flags, tagged = mailboxes.flags_of(user, folder.filter), mailboxes.tags_of(user)
    none = frozenset[str]()
    return [
        Letter(
            uid,
            card,
            received,
            flags_of(card not in flags.unread, card in flags.starred, tagged.get(card, none)),
        )
        for uid, card, received in stored
    ]


def forget_uids() -> None:
    """Have programs read all mailboxes anew: UIDs given since a backup are not known in it."""
    ImapFolder.objects.all().delete()


def store(user: User, changed: Sequence[Letter], flags: frozenset[Flag], mode: FlagOp) -> None:
    """Set the flags of messages as the pages do: read or unread, starred or not, tagged or not."""
    _tag(user, changed, flags, mode)
    given = flags & SYSTEM
    for flag, to in product((Seen, Flagged), (True, False)):
        cards = [
            letter.card
            for letter in changed
            if (flag in letter.permanent_flags) != to
            and (flag in mode.apply(letter.permanent_flags, given)) == to
        ]
        mailboxes.set_flag(user, "read" if flag == Seen else "starred", cards, to=to)


def _tag(user: User, letters: Sequence[Letter], flags: frozenset[Flag], mode: FlagOp) -> None:
    """Tag messages with keywords, or take that back; LimitError for too many at once."""
    given = {str(flag).lower(): str(flag) for flag in flags if is_tag(str(flag))}
    changes: dict[int, list[tuple[str, bool]]] = {}
    for letter in letters:
        now = {name.lower(): name for name in map(str, letter.permanent_flags - SYSTEM)}
        before, operand = (frozenset(map(Flag, names)) for names in (now, given))
        after = mode.apply(before, operand)
        named = {Flag(key): name for key, name in (given | now).items()}
        if changed := [(named[flag], flag in after) for flag in sorted(before ^ after)]:
            changes[letter.card] = changed
    if len(changes) > MOST_TAGGED:
        raise LimitError(f"At most {MOST_TAGGED} messages are tagged at a time. Name fewer.")
    mailboxes.tag(user, changes)


def _stored(folder: ImapFolder) -> list[tuple[int, int, int]]:
    return list(folder.uids.order_by("uid").values_list("uid", "card_id", "received"))


def _allot(folder: ImapFolder, listed: set[int]) -> None:
    """Delete the UIDs of what has left the list, and allot the next to what is new in it."""
    with transaction.atomic():
        locked = ImapFolder.objects.select_for_update().get(pk=folder.pk)
        known = dict(locked.uids.values_list("card_id", "pk"))
        gone = [pk for card, pk in known.items() if card not in listed]
        for rows in in_batches(ImapUid.objects.all(), gone):
            rows.delete()
        new = listed.difference(known)
        received = {
            pk: at
            for batch in in_batches(Card.objects.all(), new)
            for pk, at in batch.values_list("pk", "received")
        }
        oldest_first = sorted(received, key=lambda card: (received[card], card))
        uids = enumerate(oldest_first, locked.next_uid)
        ImapUid.objects.bulk_create(
            (
                ImapUid(folder=locked, uid=uid, card_id=card, received=received[card])
                for uid, card in uids
            ),
            batch_size=200,
        )
        folder.next_uid = locked.next_uid + len(received)
        ImapFolder.objects.filter(pk=locked.pk).update(next_uid=folder.next_uid)
