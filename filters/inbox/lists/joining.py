"""Conversations are brought together as mail comes that says that they are one.

    new facts ─> cards that are named anew by them ┐
                 mutes of their conversations ─────┴─ one transaction, and the position

Whoever makes cards by older facts than that sets the position back: no card is left behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from django.db import transaction

from filters.inbox.lists.roots import Facts, facts_in, named_after, roots_of
from filters.inbox.models import Card, FormerRoot, Match, Mute, ThreadPosition, lift_mutes
from filters.people import people
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.db.batching import batched, in_batches
from filters.site.work.db.bulk import insert_rows, update_rows
from tapestry.core.clock import wall_clock
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.log import event
from tapestry.core.schema import THREADS
from tapestry.tables.delta.data_files import DataFiles
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.find import by_time

STEP = "join conversations"
"""What an error of this site is set aside as: lists are refreshed without it."""


def join_conversations(tables: Tables, data_files: DataFiles) -> None:
    """Name cards by the facts that came since the last call, up to those in some files.

    While a file of facts is damaged, or an error of this site keeps that from being done, cards
    keep the names that they have.
    """
    since = ThreadPosition.objects.values_list("ts", flat=True).first() or 0
    if data_files.newest <= since:
        return
    aside = set_aside.of(SetAside.Kind.STEP)
    if not aside.waits(STEP):
        with aside.guard(STEP):
            _join(tables, data_files, since)


def _join(tables: Tables, data_files: DataFiles, since: int) -> None:
    try:
        facts = facts_in(tables, data_files)
        new = by_time(data_files, THREADS, [(since, data_files.newest)], ["msgid"])
        concerned = named_after(facts, set() if new is None else set(new["msgid"].to_pylist()))
        with transaction.atomic():
            # Before the position, as whoever makes cards does: else each would wait for the other.
            cards = _locked(concerned)
            position = ThreadPosition.lock()
            if position.ts < since:
                return  # cards were made by older facts meanwhile: the next call sees to them
            _name(facts, cards)
            position.ts = max(position.ts, data_files.newest)
            position.save()
    except DamagedFileError as error:
        event("no_threads", file=error.path)


def set_back(instant: int) -> None:
    """Have cards that this transaction makes named again by facts after an instant."""
    position = ThreadPosition.lock()
    if position.ts > instant:
        position.ts = instant
        position.save()


def _locked(msgids: Collection[str]) -> dict[str, list[Card]]:
    """Return the cards of messages by audience, locked."""
    of_audience: dict[str, list[Card]] = defaultdict(list)
    for batch in batched(sorted(msgids)):
        for card in Card.objects.filter(msgid__in=batch).locked():
            of_audience[card.audience].append(card)
    return of_audience


def _name(facts: Facts, of_audience: Mapping[str, Collection[Card]]) -> None:
    for audience, cards in sorted(of_audience.items()):
        roots = roots_of(facts, audience, {card.msgid for card in cards})
        changed = [card for card in cards if roots.get(card.msgid, card.root) != card.root]
        _rename(audience, [(card, roots[card.msgid]) for card in changed])


def _rename(audience: str, renamed: Iterable[tuple[Card, str]]) -> None:
    """Give cards of one audience other names, and what is muted with them."""
    now = wall_clock()
    renamed = list(renamed)
    insert_rows(FormerRoot, ("card", "root", "until"), [(c.pk, c.root, now) for c, _ in renamed])
    update_rows(Card, ("root",), ((root, card.pk) for card, root in renamed))
    for matches in in_batches(Match.objects.all(), _matches_of(renamed)):
        matches.update(refreshed_at=now)  # the mark of lists sees by it that they are others now
    names: dict[str, set[str]] = defaultdict(set)
    for card, root in renamed:
        names[card.root or card.msgid].add(root)
    _mute(audience, names, now)


def _matches_of(renamed: Iterable[tuple[Card, str]]) -> list[int]:
    found: list[int] = []
    for cards in in_batches(Card.objects.all(), (card.pk for card, _ in renamed)):
        own = Match.objects.filter(card__in=cards.values("pk"), refreshed_at__isnull=False)
        found += own.values_list("pk", flat=True)
    return found


def _mute(audience: str, names: dict[str, set[str]], now: int) -> None:
    """Mute conversations by their new names for those who had muted them by the old ones.

    A name by which they see nothing any more is no longer muted.
    """
    readers = people.readers(audience)
    for batch in batched(sorted(names)):
        mutes = Mute.objects.filter(owner__in=readers, root__in=batch).select_related("owner")
        old = list(mutes)
        Mute.objects.bulk_create(
            (
                Mute(owner=mute.owner, root=root, at=now, step=mute.step)
                for mute in old
                for root in sorted(names[mute.root])
            ),
            ignore_conflicts=True,
        )
        gone = [
            mute.pk
            for mute in old
            if not Card.objects.visible_to(mute.owner).filter(root=mute.root).exists()
        ]
        lift_mutes(Mute.objects.filter(pk__in=gone))
