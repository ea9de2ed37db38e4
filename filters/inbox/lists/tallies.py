"""Who voted or replied, of all the rows that a match counted or missed: names, as evidence rows.

They are as of the instant of the match, and only of rows that the owner of its filter may see.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from django.db.models import Q

from filters.authoring.models import Filter
from filters.inbox.lists.explanation import EvidenceRow, StaleMatch, author
from filters.runs.store.due_filters import of_rows
from tapestry.core.clock import NEVER
from tapestry.core.errors import TapestryError
from tapestry.core.ports import DueFilter
from tapestry.core.schema import ANNOTATIONS, MESSAGES, RETRACTED, RETRACTION
from tapestry.plan.compile import compile_stored
from tapestry.plan.explanation import explanation
from tapestry.plan.witnesses import Witnesses, witnesses
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import lookup

MOST_NAMES = 20
"""Names that are kept of those who voted or replied; the others are counted."""

_MAY_COUNT = Q(tql__contains="COUNT(") | Q(tql__contains="SUM(") | Q(tql__contains="NOT EXISTS")

_VOTE = ("annid", "ts", "msgid", "owner", "kind", "value", "number", "audience")
_REPLY = ("msgid", "ts", "received", "inreplyto", "sender", "sender_name", "audience")

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def tallies(
    tables: Tables, matches: Sequence[StaleMatch], received: Mapping[tuple[str, str], int]
) -> dict[int, list[EvidenceRow]]:
    """Return, by its key, the rows of each match that counts votes or replies, or misses them.

    Matches of one message share them, if they ask the same and their owners see the same.
    ``received`` is that of each matched message, by msgid and audience.
    """
    asked = _asked(matches)
    if not asked:
        return {}
    counting = [match for match in matches if match.key in asked]
    msgids = {match.msgid for match in counting}
    audiences_of = {match.audiences for match in counting}
    audiences = set(chain(*audiences_of))
    votes, replies = defaultdict(list), defaultdict(list)
    if any(w.kind.startswith("votes") for wanted in asked.values() for w in wanted):
        for row in lookup(tables, ANNOTATIONS, "msgid", msgids, audiences, _VOTE):
            if row["kind"] in ("vote", RETRACTION):
                votes[row["msgid"]].append(row)
        for msgid, rows in votes.items():
            votes[msgid] = with_retracted(rows)
    if any(w.kind == "replies" for wanted in asked.values() for w in wanted):
        for row in lookup(tables, MESSAGES, "inreplyto", msgids, audiences, _REPLY):
            replies[row["inreplyto"]].append(row)
    present = {row["audience"] for seen in (votes, replies) for row in chain(*seen.values())}
    visible = {audiences: frozenset(present.intersection(audiences)) for audiences in audiences_of}
    alike: dict[object, list[EvidenceRow]] = {}
    tallied: dict[int, list[EvidenceRow]] = {}
    for match in counting:
        copy = (match.msgid, match.audience, match.matched_at)
        same = (copy, visible[match.audiences], asked[match.key])
        if same not in alike:
            alike[same] = [
                row for w in asked[match.key] for row in _tally(match, w, votes, replies, received)
            ]
        tallied[match.key] = alike[same]
    return tallied


def with_retracted(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return annotations of one message without retractions, each with when it was taken back."""
    first: dict[tuple[Any, ...], int] = {}
    for row in rows:
        if row["kind"] == RETRACTION:
            named = (row["value"], row["owner"], row["audience"])
            first[named] = min(row["ts"], first.get(named, NEVER))
    return [
        {**row, RETRACTED: first.get((row["annid"], row["owner"], row["audience"]), NEVER)}
        for row in rows
        if row["kind"] != RETRACTION
    ]


def _asked(matches: Sequence[StaleMatch]) -> dict[int, tuple[Witnesses, ...]]:
    """Return what each match says of votes and replies, by its key, where it says anything."""
    filter_ids = {match.filter_id for match in matches}
    counting = of_rows(Filter.objects.filter(_MAY_COUNT), filter_ids, 0)
    due = {due_filter.filter_id: due_filter for due_filter in counting}
    known: dict[tuple[int, int, str], tuple[Witnesses, ...]] = {}
    asked: dict[int, tuple[Witnesses, ...]] = {}
    for match in matches:
        if match.filter_id not in due:
            continue
        case = (match.filter_id, match.disjunct, match.explanation)
        if case not in known:
            known[case] = _witnesses(due[match.filter_id], match.disjunct, match.explanation)
        if known[case]:
            asked[match.key] = known[case]
    return asked


def _witnesses(due_filter: DueFilter, disjunct: int, words: str) -> tuple[Witnesses, ...]:
    """Return what a disjunct counts or misses; nothing if it is one of an older text."""
    waits = due_filter.completeness is not None
    try:
        counted = _counted(due_filter.text, due_filter.live, waits, disjunct)
        return counted if counted and explanation(due_filter, disjunct) == words else ()
    except TapestryError:
        return ()


@lru_cache(maxsize=100_000)
def _counted(text: str, live: bool, waits: bool, disjunct: int) -> tuple[Witnesses, ...]:
    """Return what a disjunct counts or misses, in all filters with the text; nothing without it."""
    query = compile_stored(text, None, (), live, waits).query
    disjuncts = query.normal.disjuncts
    return tuple(witnesses(disjuncts[disjunct], query.var)) if disjunct < len(disjuncts) else ()


def _tally(
    match: StaleMatch,
    asked: Witnesses,
    votes: Rows,
    replies: Rows,
    received: Mapping[tuple[str, str], int],
) -> Iterator[EvidenceRow]:
    at, age = match.matched_at, asked.age
    if asked.kind == "no reply":
        came = received.get((match.msgid, match.audience))
        if came is not None:
            since = came if age is None else max(came, at - age)
            yield {"what": "no reply", "from": since, "at": at, "audience": match.audience}
        return
    is_reply = asked.kind == "replies"
    instant, key = ("received", "msgid") if is_reply else ("ts", "annid")
    by_audience: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    seen: set[str] = set()
    for row in (replies if is_reply else votes)[match.msgid]:
        counts = row["audience"] in match.audiences and row["ts"] <= at and row[key] not in seen
        if at >= row.get(RETRACTED, NEVER):
            continue
        if not counts or (age is not None and row[instant] <= at - age):
            continue
        kind = "replies" if is_reply else _kind_of_vote(row["number"])
        if kind and asked.kind in (kind, "votes"):
            seen.add(row[key])
            by_audience[kind, row["audience"]][row[key]] = row
    for (kind, audience), rows in sorted(by_audience.items()):
        name = author if is_reply else _voter
        names = list(dict.fromkeys(name(row) for row in rows.values()))
        yield {
            "what": kind,
            "names": names[:MOST_NAMES],
            "people": len(names),
            "number": len(rows),
            "at": max(row[instant] for row in rows.values()),
            "audience": audience,
        }


def _kind_of_vote(number: float | None) -> str:
    return "" if not number else "votes for" if number > 0 else "votes against"


def _voter(row: Mapping[str, Any]) -> str:
    return str(row["owner"])
