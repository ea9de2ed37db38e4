"""The read model of the lists: what they show of matched messages, copied from the tables.

stale matches ─ rows of their messages ─> cards ─┐
              └ rows of their evidence ──────────┴─> one prepared UPDATE for each match
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from filters.inbox.appraisal.upkeep import add_cards
from filters.inbox.lists.beginnings import beginnings
from filters.inbox.lists.explanation import EvidenceRow, StaleMatch, evidence_rows
from filters.inbox.lists.joining import join_conversations, set_back
from filters.inbox.lists.roots import facts_in, roots_of
from filters.inbox.lists.tallies import tallies
from filters.inbox.models import Card, Match
from filters.people import people
from filters.runs.models import SetAside
from filters.runs.store import imports
from filters.runs.store.schedule import plan_after
from filters.site.work import set_aside
from filters.site.work.db.batching import BATCH_SIZE, batched, in_batches
from filters.site.work.db.bulk import update_rows
from tapestry.core.clock import wall_clock
from tapestry.core.schema import MESSAGES, THREADS
from tapestry.tables.delta.data_files import DataFiles
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import CARD, lookup

STALE_MATCHES = 20_000
"""Matches that are refreshed in one transaction."""


class CopyKey(NamedTuple):
    """What names a copy of a message."""

    msgid: str
    audience: str


COLUMNS = (*CARD, "audience", "inreplyto", "attachments")


def refresh_cards(tables: Tables, *, enrolled: bool | None = None, part: int = 0) -> int:
    """Give stale matches their cards and their evidence rows; return how many were refreshed.

    Stale are new matches, and those of live filters whose evidence has changed.  Unless
    ``enrolled`` is None, those of filters that are in a part of the shared window, or in none.
    Idempotent: what an interrupted call has not refreshed is still stale.  A match that raises an
    error is set aside.  First, cards that are there, and mutes, join conversations by what is new:
    by the same facts as new cards are named, so that these are of a thread as it is muted.
    """
    refreshed = last = 0
    aside = set_aside.of(SetAside.Kind.MATCH)
    while True:
        rows = _stale_after(last, enrolled, part)
        facts = tables.data_files(THREADS)  # of all messages that were found
        join_conversations(tables, facts)
        if not rows:
            return refreshed
        last = rows[-1][0]
        refresh = partial(_refresh, tables, facts)
        tried = [row for row in rows if not aside.waits(row[0])]
        counts, _ = aside.apart(refresh, tried, itemgetter(0))
        refreshed += sum(counts)


def being_made(matches: QuerySet[Match]) -> QuerySet[Match]:
    """Return those whose cards are to be made again, and for which one waits.

    Nobody waits for one that is set aside: it is shown and sent as it is.
    """
    aside = set_aside.of(SetAside.Kind.MATCH).numbers_of()
    return matches.filter(refreshed_at=None).exclude(pk__in=aside)


def cards_aside(matches: QuerySet[Match]) -> tuple[int, str]:
    """Return how many of some matches have no card for an error of this site, and a reason."""
    aside = set_aside.of(SetAside.Kind.MATCH).numbers_of()
    keys = list(matches.filter(card=None, pk__in=aside).order_by("pk").values_list("pk", flat=True))
    return len(keys), set_aside.reason_of(SetAside.Kind.MATCH, keys[0]) if keys else ""


def ensure_cards(tables: Tables, copies: Sequence[CopyKey]) -> None:
    """Make cards of copies of messages that have none, as no filter has found them."""
    facts = tables.data_files(THREADS)
    cards, _ = _read_cards(tables, copies, facts)
    with transaction.atomic():
        Card.objects.bulk_create(cards, ignore_conflicts=True, batch_size=BATCH_SIZE // 12)
        set_back(facts.newest)


_Row = tuple[Any, ...]
"""Columns of a stale match; its key is the first, its evidence, as text, the last."""


def _stale_after(key: int, enrolled: bool | None, part: int) -> list[_Row]:
    stale = Match.objects.filter(Q(card=None) | Q(refreshed_at=None), pk__gt=key)
    if enrolled is not None:
        stale = stale.filter(filter__enrolled=enrolled)
    if enrolled:
        stale = stale.filter(filter__part=part)
    return list(_rows(stale)[:STALE_MATCHES])


def _rows(matches: QuerySet[Match]) -> QuerySet[Match, _Row]:
    as_text = Cast("evidence", TextField())  # many are alike: each text is decoded once
    keys = ("pk", "filter_id", "filter__owner_id", "msgid", "audience")
    fields = (*keys, "matched_at", "disjunct", "explanation", "card_id", "listed_at")
    return matches.order_by("pk").values_list(*fields, as_text)


def _stale_matches(rows: Sequence[_Row]) -> list[StaleMatch]:
    owners = people.owners_by_key({row[2] for row in rows})
    decoded = {text: tuple(json.loads(text)) for text in {row[-1] for row in rows}}
    return [
        StaleMatch(
            key,
            filter_id,
            owners[owner].audiences,
            msgid,
            audience,
            at,
            disjunct,
            words,
            decoded[text],
        )
        for key, filter_id, owner, msgid, audience, at, disjunct, words, _, _, text in rows
        if owner in owners  # the others were deleted meanwhile
    ]


def _refresh(tables: Tables, facts: DataFiles, rows: Sequence[_Row]) -> list[int]:
    """Refresh matches, by the facts of a moment; return how many were, as the only number."""
    matches = _stale_matches(rows)
    cards, parents = _read_cards(tables, matches, facts)
    evidence = evidence_rows(tables, matches, parents)
    received = {(card.msgid, card.audience): card.received for card in cards}
    joined: dict[tuple[int, int], list[EvidenceRow]] = {}
    for key, tally in tallies(tables, matches, received).items():
        alike = id(evidence[key]), id(tally)  # lists that many matches share
        if alike not in joined:
            joined[alike] = [*evidence[key], *tally]
        evidence[key] = joined[alike]
    with transaction.atomic():
        Card.objects.bulk_create(
            cards,
            update_conflicts=True,
            unique_fields=["msgid", "audience"],
            update_fields=["received", "imported"],  # names are changed where mutes are
            batch_size=BATCH_SIZE // 12,
        )
        keys = _card_keys({match.msgid for match in matches})
        now = wall_clock()
        matches = _as_read(matches, rows)
        _mark_imported_read(matches, cards, now)
        found = [match for match in matches if (match.msgid, match.audience) in keys]
        listed = {key: now if card is None else at for key, *_, card, at, _ in rows}
        update_rows(
            Match,
            ("card", "evidence_rows", "refreshed_at", "listed_at"),
            (
                (keys[m.msgid, m.audience], evidence[m.key], now, listed[m.key], m.key)
                for m in found
            ),
        )
        plan_after({match.filter_id for match in found}, [match.key for match in found])
        add_cards([match.key for match in found])
        # What is nowhere to be found is looked for again, but nobody waits for it.
        missing = [match.key for match in matches if (match.msgid, match.audience) not in keys]
        for batch in batched(missing):
            Match.objects.filter(pk__in=batch, refreshed_at=None).update(refreshed_at=now)
        set_back(facts.newest)
    return [len(found)]


def _as_read(matches: Sequence[StaleMatch], rows: Sequence[_Row]) -> list[StaleMatch]:
    """Return, locked, those matches that are still stored as their rows were read.

    The others are gone, or a window has changed them: they are stale again, or another worker has
    refreshed them.
    """
    locked = Match.objects.select_for_update(of=("self",), no_key=True)
    owner_of = {row[0]: row[2] for row in rows}
    stored = {row for batch in in_batches(locked, owner_of) for row in _rows(batch)}
    owners = people.owners_by_key(owner_of.values())
    same = {row[0] for row in rows if row in stored and row[2] in owners}
    return [
        match
        for match in matches
        if match.key in same and owners[owner_of[match.key]].audiences == match.audiences
    ]


def _mark_imported_read(matches: Sequence[StaleMatch], cards: Sequence[Card], now: int) -> None:
    """Mark as read what matched as it was imported, before it is listed for the first time."""
    arrived = {(card.msgid, card.audience): card.ts for card in cards if card.imported}
    keys = [
        match.key
        for match in matches
        if arrived.get((match.msgid, match.audience)) == match.matched_at
    ]
    for batch in batched(keys):
        Match.objects.filter(pk__in=batch, card=None, read_at=None).update(read_at=now)


def _card_keys(msgids: Collection[str]) -> dict[tuple[str, str], int]:
    """Return the keys of messages' cards, locked, so that none is deleted before it is used."""
    return {
        (msgid, audience): key
        for batch in batched(sorted(msgids))
        for key, msgid, audience in Card.objects.filter(msgid__in=batch)
        .locked()
        .values_list("pk", "msgid", "audience")
    }


def _known(msgids: Collection[str]) -> set[tuple[str, str]]:
    """Return which copies of messages have cards: what they say never changes."""
    return {
        copy
        for batch in batched(sorted(msgids))
        for copy in Card.objects.filter(msgid__in=batch).values_list("msgid", "audience")
    }


def _read_cards(
    tables: Tables, matches: Sequence[StaleMatch | CopyKey], facts: DataFiles
) -> tuple[list[Card], dict[tuple[str, str], str | None]]:
    """Return the cards of matched copies, and the msgid of the parent of each.

    ``facts``: the files by which they are of conversations.
    """
    wanted: dict[str, set[str]] = defaultdict(set)
    for match in matches:
        wanted[match.audience].add(match.msgid)
    known = _known({match.msgid for match in matches})
    cards: list[Card] = []
    parents: dict[tuple[str, str], str | None] = {}
    files = tables.data_files(MESSAGES)
    for audience, msgids in wanted.items():
        rows = lookup(tables, MESSAGES, "msgid", msgids, [audience], COLUMNS, files)
        roots = roots_of(facts_in(tables, facts), audience, [row["msgid"] for row in rows])
        new = [row for row in rows if (row["msgid"], audience) not in known]
        words = beginnings(tables, audience, new, files)
        for row in rows:
            parents[row["msgid"], audience] = row["inreplyto"]
            texts = {name: row[name] or "" for name in ("sender", "sender_name", "subject")}
            columns = {name: row[name] for name in ("msgid", "ts", "received", "date")}
            root = roots.get(row["msgid"], "")
            more = {
                "beginning": words.get(row["msgid"], ""),
                "attachments": row["attachments"] or 0,
                "made_at": wall_clock(),
            }
            cards.append(Card(audience=audience, root=root, **columns, **texts, **more))
    imports.name_cards(cards)
    # As those that are there are locked: CardQuerySet.locked.
    return sorted(cards, key=attrgetter("msgid", "audience")), parents
