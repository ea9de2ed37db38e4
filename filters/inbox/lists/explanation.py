"""The rows of a match's evidence, as they are stored to be put into words for its reader.

A stored evidence row keeps its audience, and only readers in that audience are shown it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import lookup

MAX_ROWS = 6
"""Evidence rows that are kept of one match."""

_OF_MESSAGE = ("msgid", "audience", "received", "inreplyto", "sender", "sender_name", "subject")
_OF_ANNOTATION = ("annid", "audience", "ts", "owner", "kind", "value", "number")

EvidenceRow = dict[str, Any]
"""``{"what": "reply" | "parent" | "message" | "vote" | "tag" | …, "who", "value", "audience",
"msgid", "at"}``, or a tally: ``{"what": "votes for" | "votes against" | "replies", "names",
"people", "number", "at", "audience"}``, ``{"what": "no reply", "from", "at", "audience"}``."""


@dataclass(frozen=True, slots=True)
class StaleMatch:
    """A stored match, by its key, and the audiences that its owner sees."""

    key: int
    filter_id: int
    audiences: tuple[str, ...]
    msgid: str
    audience: str
    matched_at: int
    disjunct: int
    explanation: str
    evidence: tuple[str, ...]


def evidence_rows(
    tables: Tables,
    matches: Sequence[StaleMatch],
    parents: Mapping[tuple[str, str], str | None],
) -> dict[int, list[EvidenceRow]]:
    """Return the evidence rows of each match, by its key, as far as its owner may see them.

    ``parents`` maps a matched copy, its msgid and audience, to the msgid of its parent.  Matches
    of one copy with one evidence share their rows, if their owners see the same.
    """
    showing = [match for match in matches if match.evidence not in ((), (match.msgid,))]
    keys = {key for match in showing for key in match.evidence[: MAX_ROWS + 1]}
    rows = _rows(tables, keys, {audience for match in showing for audience in match.audiences})
    present = {row["audience"] for copies in rows.values() for row in copies}
    visible: dict[tuple[str, ...], frozenset[str]] = {}
    shown: dict[object, list[EvidenceRow]] = {}
    nothing: list[EvidenceRow] = []
    evidence = dict.fromkeys([match.key for match in matches], nothing)
    for match in showing:
        if match.audiences not in visible:
            visible[match.audiences] = frozenset(present.intersection(match.audiences))
        audiences = visible[match.audiences]
        copy = match.msgid, match.audience
        same = (copy, match.evidence, audiences)
        if same not in shown:
            parent = parents.get(copy)
            shown[same] = _shown(rows, match.msgid, match.evidence, audiences, parent)
        evidence[match.key] = shown[same]
    return evidence


def _shown(
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    msgid: str,
    evidence: Sequence[str],
    visible: Collection[str],
    parent: str | None,
) -> list[EvidenceRow]:
    copies = (
        next((row for row in rows.get(key, ()) if row["audience"] in visible), None)
        for key in dict.fromkeys(evidence)
        if key != msgid
    )
    seen = (_evidence_row(row, msgid, parent) for row in copies if row is not None)
    return list(islice(seen, MAX_ROWS))


def _rows(
    tables: Tables, keys: set[str], audiences: Collection[str]
) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if not keys:
        return rows
    for table, columns in ((MESSAGES, _OF_MESSAGE), (ANNOTATIONS, _OF_ANNOTATION)):
        key = columns[0]
        for row in lookup(tables, table, key, keys, audiences, columns):
            rows[row[key]].append(row)
    return rows


def _evidence_row(row: Mapping[str, Any], msgid: str, parent: str | None) -> EvidenceRow:
    if "annid" in row:
        against = row["kind"] == "vote" and (row["number"] or 0) < 0
        return {
            "what": row["kind"],
            "who": row["owner"],
            "value": "against" if against else row["value"],
            "audience": row["audience"],
            "msgid": msgid,
            "at": row["ts"],
        }
    kind = "parent" if row["msgid"] == parent else "message"
    return {
        "what": "reply" if row["inreplyto"] == msgid else kind,
        "who": author(row),
        "value": row["subject"],
        "audience": row["audience"],
        "msgid": row["msgid"],
        "at": row["received"],
    }


def author(row: Mapping[str, Any]) -> str:
    return str(row["sender_name"] or row["sender"] or "somebody")
