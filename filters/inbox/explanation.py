"""The explanation of a match for its reader: the rows of its evidence, in words.

What is stored of such a row keeps the row's audience, and is shown only to readers in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from filters.accounts import people
from filters.models import Match
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.log import Tables, data_files_of
from tapestry.tables.read import lookup

MAX_ROWS = 6
"""Evidence rows that are kept of one match."""

_OF_MESSAGE = ("msgid", "audience", "inreplyto", "sender", "sender_name", "subject")
_OF_ANNOTATION = ("annid", "audience", "owner", "kind", "value", "number")

EvidenceRow = dict[str, Any]
"""``{"what": "reply" | "parent" | "message" | "vote" | "tag" | …, "who", "value", "audience",
"msgid"}``."""


def evidence_rows(
    tables: Tables, matches: Sequence[Match], parents: Mapping[str, str | None]
) -> dict[int, list[EvidenceRow]]:
    """Return the evidence rows of each match, by its key, as far as its owner may see them.

    ``parents`` maps a matched msgid to that of its parent.
    """
    audiences = {
        match.filter.owner_id: people.audiences(match.filter.owner)
        for match in {match.filter.owner_id: match for match in matches}.values()
    }
    keys = {
        key
        for match in matches
        if match.evidence != [match.msgid]
        for key in match.evidence[: MAX_ROWS + 1]
    }
    rows = _rows(tables, keys, set[str]().union(*audiences.values()))
    found: dict[int, list[EvidenceRow]] = {}
    for match in matches:
        visible = audiences[match.filter.owner_id]
        copies = (
            next((row for row in rows.get(key, ()) if row["audience"] in visible), None)
            for key in match.evidence
            if key != match.msgid
        )
        parent = parents.get(match.msgid)
        evidence = [_evidence_row(row, match.msgid, parent) for row in copies if row is not None]
        found[match.pk] = evidence[:MAX_ROWS]
    return found


def sentences(rows: Sequence[EvidenceRow], audiences: Collection[str]) -> list[str]:
    """Return in words those evidence rows that a reader in these audiences may know of."""
    return list(dict.fromkeys(_sentence(row) for row in rows if row["audience"] in audiences))


def _rows(
    tables: Tables, keys: set[str], audiences: Collection[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of these keys that somebody in the audiences may see."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if not keys:
        return found
    for table, key, columns in (
        (MESSAGES, "msgid", _OF_MESSAGE),
        (ANNOTATIONS, "annid", _OF_ANNOTATION),
    ):
        files = data_files_of(tables.open(table))
        for row in lookup(files, table, key, keys, audiences, columns, root=tables.root):
            found[row[key]].append(row)
    return found


def _evidence_row(row: Mapping[str, Any], msgid: str, parent: str | None) -> EvidenceRow:
    if "annid" in row:
        against = row["kind"] == "vote" and (row["number"] or 0) < 0
        return {
            "what": row["kind"],
            "who": row["owner"],
            "value": "against" if against else row["value"],
            "audience": row["audience"],
            "msgid": msgid,
        }
    what = "message"
    if row["inreplyto"] == msgid:
        what = "reply"
    elif row["msgid"] == parent:
        what = "parent"
    return {
        "what": what,
        "who": row["sender_name"] or row["sender"] or "somebody",
        "value": row["subject"],
        "audience": row["audience"],
        "msgid": row["msgid"],
    }


def _sentence(row: EvidenceRow) -> str:
    who, value = row["who"], row["value"]
    match row["what"]:
        case "reply":
            return f"{who} replied"
        case "parent":
            return f"in reply to {who}"
        case "vote":
            return f"{who} voted {'against' if value == 'against' else 'for'} it"
        case "tag":
            return f"{who} tagged it {value}"
        case "message":
            return f"with a message by {who}"
        case kind:
            return f"{who} added a {kind}"
