"""The read model of the lists: what they show of matched messages, copied from the tables.

stale matches ─ rows of their messages ─> cards ─┐
              └ rows of their evidence ──────────┴─> one upsert and one UPDATE a batch
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery

from filters.inbox.explanation import evidence_rows
from filters.models import Card, Match
from filters.runtime.batching import BATCH_SIZE, batched
from tapestry.core.clock import wall_clock
from tapestry.core.schema import MESSAGES
from tapestry.tables.log import Tables
from tapestry.tables.read import CARD, lookup

STALE_MATCHES = 1000
"""Matches that are refreshed in one transaction."""

COLUMNS = (*CARD, "audience", "inreplyto")


def refresh_cards(tables: Tables) -> int:
    """Give stale matches their cards and their evidence rows; return how many were refreshed.

    Stale are new matches, and those of live filters whose evidence has changed.
    Idempotent: what an interrupted call has not refreshed is still stale.
    """
    refreshed = last = 0
    while stale := _stale_after(last):
        last = stale[-1].pk
        refreshed += _refresh(tables, stale)
    return refreshed


def _stale_after(key: int) -> list[Match]:
    stale = Match.objects.filter(Q(card=None) | Q(refreshed_at=None), pk__gt=key)
    stale = stale.select_related("filter__owner").prefetch_related("filter__owner__groups")
    return list(stale.order_by("pk")[:STALE_MATCHES])


def _refresh(tables: Tables, matches: Sequence[Match]) -> int:
    cards, parents = _read_cards(tables, matches)
    evidence = evidence_rows(tables, matches, parents)
    changed = {match.pk: match for match in matches if match.evidence_rows != evidence[match.pk]}
    for match in changed.values():
        match.evidence_rows = evidence[match.pk]
    card = Card.objects.filter(msgid=OuterRef("msgid"), audience=OuterRef("audience"))
    refreshed = 0
    with transaction.atomic():
        Card.objects.bulk_create(cards, ignore_conflicts=True, batch_size=BATCH_SIZE // 5)
        for keys in batched(changed):
            # An upsert takes a third of the time of bulk_update (an expression a row).  Only of
            # locked rows: it would bring back those that were deleted meanwhile.
            locked = Match.objects.select_for_update().filter(pk__in=keys)
            Match.objects.bulk_create(
                [changed[key] for key in locked.values_list("pk", flat=True)],
                batch_size=BATCH_SIZE // 5,
                update_conflicts=True,
                unique_fields=["pk"],
                update_fields=["evidence_rows"],
            )
        for keys in batched([match.pk for match in matches]):
            refreshed += Match.objects.filter(Exists(card), pk__in=keys).update(
                card=Subquery(card.values("pk")), refreshed_at=wall_clock()
            )
    return refreshed


def _read_cards(
    tables: Tables, matches: Sequence[Match]
) -> tuple[list[Card], dict[str, str | None]]:
    """Return the cards of the matched messages, and the msgid of each message's parent."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for match in matches:
        wanted[match.audience].add(match.msgid)
    cards: list[Card] = []
    parents: dict[str, str | None] = {}
    files = tables.data_files(MESSAGES)
    for audience, msgids in wanted.items():
        for row in lookup(tables, MESSAGES, "msgid", msgids, [audience], COLUMNS, files):
            parents.setdefault(row["msgid"], row["inreplyto"])
            texts = {name: row[name] or "" for name in ("sender", "sender_name", "subject")}
            cards.append(
                Card(msgid=row["msgid"], audience=audience, ts=row["ts"], date=row["date"], **texts)
            )
    return cards, parents
