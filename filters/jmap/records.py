"""What changed in the lists of a person since a program last asked: records, and their states.

    lists now ─> records ─┬─ as they were told ──> the same state
    records told before ──┴─ otherwise ──────────> changed, new or gone, under the next states

Nothing is read while the mark of the lists is the same (filters.inbox.counts); else all lists of
the person are, as one statement for each.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from operator import or_

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from filters.compose.models import OutgoingMessage
from filters.inbox import mailboxes
from filters.inbox.models import Card
from filters.jmap.letters import DRAFTS, SENT, box_of, letters_of, mark_of_letters, undo_status
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.protocol import MethodError
from filters.people import people
from filters.people.models import User
from filters.site.work.crypto.opaque_keys import digester, keyed_digest
from filters.site.work.db.batching import batched, in_batches
from filters.site.work.db.bulk import insert_rows, update_rows
from tapestry.core.clock import SECOND, wall_clock

SEEN, FLAGGED, DRAFT, TAG = "$seen", "$flagged", "$draft", "#"
"""Keywords of flags, and the sign with which the word of another begins: a tag of the person."""

MARKS = ("$answered", "$forwarded")
"""Keywords that mail programs tell each other: they are kept in records alone."""

INBOX = "inbox"

SHELVES = mailboxes.SHELVES | {"Drafts": DRAFTS, "Sent": SENT}
"""The names of the mailboxes that everybody has, and those of their records."""

MOST_GONE = 20_000
"""Records of what is gone that are kept of an account, up to a tenth more."""

Key = tuple[str, str]
"""The kind of a record, and its name."""

Values = tuple[str, int | None, int | None]
"""The value of a record, and the keys of its card and its letter."""


def account_of(user: User, inboxed: Collection[int] = ()) -> JmapAccount:
    """Return the account of a person, its records as the lists are now.

    ``inboxed`` are the keys of new drafts that a program has put into the inbox.
    """
    now = keyed_digest("jmap", f"{mailboxes.mark(user)} {mark_of_letters(user)}")[:22]
    defaults = {"validity": wall_clock() // SECOND}
    account, _ = JmapAccount.objects.get_or_create(owner=user, defaults=defaults)
    if account.mark == now:
        return account
    with transaction.atomic():
        account = JmapAccount.objects.select_for_update().get(pk=account.pk)
        kept = _kept(account) | {-key: [INBOX] for key in inboxed}
        _renew(account, _Lists(user, kept).records())
        account.mark = now
        account.save()
    return account


@transaction.atomic
def mark(account: JmapAccount, changes: Mapping[int, Mapping[str, bool]]) -> None:
    """Set keywords that are kept in records alone, or take them away, by the keys of Emails."""
    account = JmapAccount.objects.select_for_update().get(pk=account.pk)
    rows = []
    for record in account.records.filter(pk__in=changes, gone=False):
        words = {**dict.fromkeys(record.value.split(), True), **changes[record.pk]}
        kept = [word for word, to in words.items() if to]
        value = " ".join(sorted(kept, key=lambda word: word[0] == TAG))  # tags last, as in _Lists
        account.state += 1
        rows.append((f" {value} ", account.state, record.pk))
    update_rows(JmapRecord, ("value", "changed"), rows)
    account.save()


def _kept(account: JmapAccount) -> dict[int, list[str]]:
    """Return what records alone know of Emails, by the keys of their cards, or letters below 0."""
    conditions = [Q(value__contains=f" {word} ") for word in MARKS]
    conditions.append(Q(letter__isnull=False, value__contains=f" {INBOX} "))
    rows = account.records.filter(reduce(or_, conditions), kind=JmapRecord.EMAIL, gone=False)
    return {
        card or -letter: [word for word in value.split() if word in (*MARKS, INBOX)]
        for card, letter, value in rows.values_list("card_id", "letter_id", "value")
    }


def forget_accounts() -> None:
    """Have programs read all mailboxes anew: states told since a backup are not known in it."""
    JmapAccount.objects.all().delete()


def look_again(owners: QuerySet[User]) -> None:
    """Have lists of people be read anew: of what is forgotten no mark tells."""
    JmapAccount.objects.filter(owner__in=owners).update(mark="")


def present(account: JmapAccount, kind: str) -> QuerySet[JmapRecord]:
    """Return the records of a kind; those of messages that the owner may see now alone."""
    records = account.records.filter(kind=kind, gone=False).order_by("pk")
    if kind == JmapRecord.EMAIL:
        seen = Q(card__audience__in=people.audiences(account.owner))
        return records.filter(seen | Q(letter__owner=account.owner_id))
    return records


def state_of(account: JmapAccount, kind: str) -> str:
    """Return the state of a kind: what it is changes with each change of a record of this kind."""
    last = account.records.filter(kind=kind).aggregate(last=Max("changed"))["last"]
    return _written(account, max(last or 0, account.forgotten))


@dataclass(slots=True)
class Changes:
    """Records by what became of them since a state, as far as the state ``until``."""

    until: str
    more: bool = False
    created: list[int] = field(default_factory=list)
    updated: list[int] = field(default_factory=list)
    destroyed: list[int] = field(default_factory=list)


def changes(account: JmapAccount, kind: str, since: str, most: int) -> Changes:
    """Return at most so many changes, the earliest first; MethodError for a state that is unknown.

    A state within them names, after its own, that of which all was told: what was new since then
    and has changed meanwhile is still to be told as new.
    """
    at, base = _read(account, since)
    later = account.records.filter(kind=kind, changed__gt=at).order_by("changed")
    rows = list(later.values_list("pk", "created", "changed", "gone")[: most + 1])
    found = Changes(state_of(account, kind), more=len(rows) > most)
    if found.more:
        rows = rows[:most]
        found.until = _written(account, rows[-1][2], base)
    for key, created, _, gone in rows:
        if gone and created <= at:
            found.destroyed.append(key)
        elif not gone:
            (found.created if created > base else found.updated).append(key)
    return found


def _written(account: JmapAccount, state: int, base: int | None = None) -> str:
    return ".".join(map(str, (account.validity, state, *(() if base is None else (base,)))))


def _read(account: JmapAccount, text: str) -> tuple[int, int]:
    """Return the state that a text names, and that of which all was told."""
    validity, *states = text.split(".") if text.replace(".", "").isdecimal() else [""]
    if validity != str(account.validity) or len(states) not in (1, 2) or len(text) > 80:
        raise MethodError("cannotCalculateChanges")
    at, base = int(states[0] or -1), int(states[-1] or -1)
    if not account.forgotten <= base <= at <= account.state:
        raise MethodError("cannotCalculateChanges")
    return at, base


@dataclass(slots=True)
class _Lists:
    """The lists of a person now, as records; letters of their own have keys below 0."""

    user: User
    kept: Mapping[int, Sequence[str]]
    placed: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    def records(self) -> dict[Key, Values]:
        """Return the values of each record."""
        letters = {-letter.pk: letter for letter in letters_of(self.user)}
        boxes = list(self._boxes(letters))
        flags, tags = mailboxes.flags_of(self.user), mailboxes.tags_of(self.user)
        roots = self._roots(letters)
        threads: dict[str, list[str]] = defaultdict(list)
        unread: set[str] = set()
        found: dict[Key, Values] = {}
        for key, root in roots.items():
            letter = letters.get(key)
            seen = [] if key in flags.unread else [SEEN]
            words = [*self.placed[key], *seen, *([FLAGGED] if key in flags.starred else [])]
            words += [word for word in self.kept.get(key, ()) if word != INBOX]
            words += [DRAFT] if letter is not None and box_of(letter) == DRAFTS else []
            words += sorted(f"{TAG}{tag.lower()}" for tag in tags.get(key, ()))
            item = str(key) if letter is None else f"{key}.{letter.version}"
            keys = (key, None) if letter is None else (None, letter.pk)
            found[JmapRecord.EMAIL, f"{item}:{root}"] = f" {' '.join(words)} ", *keys
            threads[root].append(item)
            if not seen:
                unread.add(root)
        for root, items in threads.items():
            found[JmapRecord.THREAD, root] = " ".join(items), None, None
        for name, title, box in boxes:
            keys_in = [key for key in box if key in roots]
            within = {roots[key] for key in keys_in}
            news = sum(key in flags.unread for key in keys_in)
            value = [title, len(keys_in), news, len(within), len(within & unread)]
            found[JmapRecord.MAILBOX, name] = json.dumps(value), None, None
        for letter in letters.values():
            if status := undo_status(letter):
                found[JmapRecord.SUBMISSION, str(letter.pk)] = status, None, letter.pk
        return found

    def _boxes(self, letters: Mapping[int, OutgoingMessage]) -> Iterator[tuple[str, str, set[int]]]:
        for title, shelf in SHELVES.items():
            cards = mailboxes.cards_in(self.user, shelf) if title in mailboxes.SHELVES else set()
            own = {key for key, letter in letters.items() if self._box(letter) == shelf}
            yield shelf, title, self._place(shelf, cards | own)
        for filter_ in mailboxes.filters_of(self.user):
            cards = mailboxes.cards_in(self.user, "", filter_)
            yield str(filter_.pk), filter_.name, self._place(str(filter_.pk), cards)

    def _box(self, letter: OutgoingMessage) -> str:
        box = box_of(letter)
        return INBOX if box == DRAFTS and INBOX in self.kept.get(-letter.pk, ()) else box

    def _place(self, name: str, keys: set[int]) -> set[int]:
        for key in keys:
            self.placed[key].append(name)
        return keys

    def _roots(self, letters: Mapping[int, OutgoingMessage]) -> dict[int, str]:
        """Return a digest of the root of each message's thread, the oldest message first.

        What is forgotten leaves no Message-ID here.
        """
        visible = Card.objects.visible_to(self.user)
        rows = [
            row
            for batch in in_batches(visible, [key for key in self.placed if key > 0])
            for row in batch.values_list("received", "pk", "root", "msgid")
        ]
        answered = {letter.parent for letter in letters.values() if not letter.is_forward}
        roots = {
            msgid: root or msgid
            for batch in batched(sorted(answered - {""}))
            for msgid, root in visible.filter(msgid__in=batch).values_list("msgid", "root")
        }
        for key, letter in letters.items():
            own = f"letter {letter.uid}"
            root = own if letter.is_forward else roots.get(letter.parent, own)
            rows.append((letter.changed_at, key, root, ""))
        digest = digester("jmap thread")
        named = {root: digest(root)[:22] for root in {root or msgid for _, _, root, msgid in rows}}
        return {key: named[root or msgid] for _, key, root, msgid in sorted(rows)}


def _renew(account: JmapAccount, now: dict[Key, Values]) -> None:
    """Bring the records to what is now, and the state to that of the last change."""
    rows = account.records.filter(gone=False).values_list("kind", "name", "pk", "value")
    before = {(kind, name): (pk, value) for kind, name, pk, value in rows}
    states = count(account.state + 1)
    changed = [
        (now[key][0], next(states), pk)
        for key, (pk, value) in before.items()
        if key in now and now[key][0] != value
    ]
    gone = [(True, next(states), pk) for key, (pk, _) in before.items() if key not in now]
    new = [
        (account.pk, *key, *now[key], state, state)
        for key, state in zip((key for key in now if key not in before), states, strict=False)
    ]
    update_rows(JmapRecord, ("value", "changed"), changed)
    update_rows(JmapRecord, ("gone", "changed"), gone)
    names = ("account", "kind", "name", "value", "card", "letter", "created", "changed")
    insert_rows(JmapRecord, names, new)
    account.state += len(changed) + len(gone) + len(new)
    _forget(account)


def _forget(account: JmapAccount) -> None:
    """Delete the oldest records of what is gone, where there are too many."""
    gone = account.records.filter(gone=True)
    if gone.count() > MOST_GONE * 11 // 10:
        oldest = gone.order_by("-changed").values_list("changed", flat=True)[MOST_GONE]
        gone.filter(changed__lte=oldest).delete()
        account.forgotten = oldest
