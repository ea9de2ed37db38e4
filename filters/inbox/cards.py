"""Copy what lists show of matched messages from the tables, for matches that are to be told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Field, Q
from sqlglot import exp

from filters.inbox import explanation
from filters.models import Card, Match
from tapestry.core.clock import wall_clock
from tapestry.core.schema import MESSAGES
from tapestry.tables.log import Tables, data_files_of
from tapestry.tables.read import CARD, lookup

BATCH = 1000

TOLD = ("card", "evidence_rows", "refreshed_at")
"""What a match is given once it is stored."""

COLUMNS = (*CARD, "audience", "inreplyto")


def refresh_cards(tables: Tables) -> int:
    """Give matches their cards, and say why they match; return how many were told.

    These are the new ones, and those of live filters that match otherwise than before.  Can be
    interrupted and repeated: what has not been told is found again.
    """
    done = 0
    last = 0
    while waiting := _waiting(last):
        last = waiting[-1].pk
        done += _give(tables, waiting)
    return done


def _waiting(after: int) -> list[Match]:
    found = Match.objects.filter(Q(card=None) | Q(refreshed_at=None), pk__gt=after)
    found = found.select_related("filter__owner").prefetch_related("filter__owner__groups")
    return list(found.order_by("pk")[:BATCH])


def _give(tables: Tables, waiting: Sequence[Match]) -> int:
    wanted: dict[str, set[str]] = defaultdict(set)
    for match in waiting:
        wanted[match.audience].add(match.msgid)
    parents: dict[str, str | None] = {}
    made: list[Card] = []
    log = data_files_of(tables.open(MESSAGES))
    for audience, msgids in wanted.items():
        for row in lookup(log, MESSAGES, "msgid", msgids, [audience], COLUMNS, root=tables.root):
            parents.setdefault(row["msgid"], row["inreplyto"])
            texts = {name: row[name] or "" for name in ("sender", "sender_name", "subject")}
            made.append(
                Card(
                    msgid=row["msgid"],
                    audience=audience,
                    ts=row["ts"],
                    date=row["date"],
                    **texts,
                )
            )
    explanation.explain(tables, waiting, parents)
    with transaction.atomic():
        Card.objects.bulk_create(made, ignore_conflicts=True, batch_size=100)
        given = list(_with_cards(waiting, wanted.items()))
        _tell(given)
    return len(given)


def _tell(matches: Sequence[Match]) -> None:
    """Store what was found for some matches: the same statement for each, prepared once."""
    fields = [Match._meta.get_field(name) for name in TOLD]
    columns = [field for field in fields if isinstance(field, Field)]
    given = exp.var("%s")
    update = exp.update(
        Match._meta.db_table,
        {str(field.column): given for field in columns},
        where=exp.EQ(this=exp.column("id"), expression=given),
    )

    def values(match: Match) -> list[Any]:
        stored = [(field, getattr(match, field.attname)) for field in columns]
        return [field.get_db_prep_save(value, connection) for field, value in stored]

    with connection.cursor() as cursor:
        cursor.executemany(update.sql(), [[*values(match), match.pk] for match in matches])


def _with_cards(
    waiting: Sequence[Match], wanted: Iterable[tuple[str, set[str]]]
) -> Iterable[Match]:
    refreshed_at = wall_clock()
    for audience, msgids in wanted:
        known = Card.objects.filter(audience=audience, msgid__in=msgids)
        keys = dict(known.values_list("msgid", "pk"))
        for match in waiting:
            if match.audience == audience and match.msgid in keys:
                match.card_id = keys[match.msgid]
                match.refreshed_at = refreshed_at
                yield match
