"""Why a message matched, for its reader: the rows that a match names, in words.

What is stored of such a row goes with its audience, and is shown only to who is in it.
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

MOST = 6
"""Reasons that are kept of one match."""

_OF_MESSAGE = ("msgid", "audience", "inreplyto", "sender", "sender_name", "subject")
_OF_ANNOTATION = ("annid", "audience", "owner", "kind", "value", "number")


def explain(tables: Tables, matches: Sequence[Match], parents: Mapping[str, str | None]) -> None:
    """Fill in ``evidence_rows`` of each match; ``parents`` maps a matched msgid to its parent's.

    Each reason is ``{"what": "reply" | "parent" | "message" | "vote" | "tag" | …, "who",
    "value", "audience", "msgid"}``.
    """
    by_owner: dict[int, list[Match]] = defaultdict(list)
    for match in matches:
        by_owner[match.filter.owner_id].append(match)
    may_see = {pk: people.audiences(some[0].filter.owner) for pk, some in by_owner.items()}
    names = {
        name
        for match in matches
        if match.evidence != [match.msgid]
        for name in match.evidence[: MOST + 1]
    }
    rows = _rows(tables, names, {one for audiences in may_see.values() for one in audiences})
    for pk, theirs in by_owner.items():
        for match in theirs:
            shown = (
                next((row for row in rows.get(name, ()) if row["audience"] in may_see[pk]), None)
                for name in match.evidence
                if name != match.msgid
            )
            reasons = [
                _reason(row, match.msgid, parents.get(match.msgid))
                for row in shown
                if row is not None
            ]
            match.evidence_rows = reasons[:MOST]


def visible(evidence_rows: Sequence[Mapping[str, Any]], audiences: Collection[str]) -> list[str]:
    """Return in words those reasons that a reader in these audiences may know of."""
    words = [_in_words(each) for each in evidence_rows if each["audience"] in audiences]
    return list(dict.fromkeys(words))


def _rows(
    tables: Tables, names: set[str], audiences: Collection[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of these names that somebody in the audiences may see."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if not names:
        return found
    for table, key, columns in (
        (MESSAGES, "msgid", _OF_MESSAGE),
        (ANNOTATIONS, "annid", _OF_ANNOTATION),
    ):
        log = data_files_of(tables.open(table))
        for row in lookup(log, table, key, names, audiences, columns, root=tables.root):
            found[row[key]].append(row)
    return found


def _reason(row: Mapping[str, Any], msgid: str, parent: str | None) -> dict[str, Any]:
    if "annid" in row:
        vote = row["kind"] == "vote"
        against = vote and (row["number"] or 0) < 0
        value = "against" if against else row["value"]
        return {
            "what": row["kind"],
            "who": row["owner"],
            "value": value,
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


def _in_words(reason: Mapping[str, Any]) -> str:
    who, value = reason["who"], reason["value"]
    match reason["what"]:
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
