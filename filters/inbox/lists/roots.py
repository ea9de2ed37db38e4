"""The root of a message's thread: what is muted with it.

References name it.  A reply without them, as some programs write, has the root of its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from filters.inbox.models import Card
from filters.site.work.batching import batched
from tapestry.core.message import PUBLIC
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import lookup, narrowest_by_msgid, narrowest_first

STEPS = 8
"""Parents above a message that are looked up, at most, until one has a card or References."""

_COLUMNS = ("msgid", "audience", "inreplyto", "references")


def roots_of(
    tables: Tables,
    audience: str,
    rows: Sequence[Mapping[str, Any]],
    data_files: Iterable[DataFile],
) -> dict[str, str]:
    """Return the roots of the threads of messages, the copies for one audience, by msgid.

    What is looked up are copies that all who may see these messages may see too.
    """
    known: dict[str, str] = {}
    above: dict[str, str] = {}
    _take(rows, known, above)
    looked_up: set[str] = set()
    seen = list(dict.fromkeys([audience, PUBLIC]))
    files = tuple(data_files)
    for _ in range(STEPS):
        wanted = set(above.values()) - known.keys() - above.keys() - looked_up
        if not wanted:
            break
        looked_up |= wanted
        known |= _roots_of_cards(wanted, seen)
        others = wanted - known.keys()
        if not others:
            continue
        parents = lookup(tables, MESSAGES, "msgid", others, seen, _COLUMNS, files)
        _take(narrowest_first(parents), known, above)
    return {row["msgid"]: _climb(row["msgid"], known, above) for row in rows}


def _take(rows: Iterable[Mapping[str, Any]], known: dict[str, str], above: dict[str, str]) -> None:
    """Take what headers say: the root of a message, or else its parent."""
    for row in rows:
        msgid = row["msgid"]
        if msgid in known or msgid in above:
            continue
        if row["references"]:
            known[msgid] = row["references"][0]
        elif row["inreplyto"]:
            above[msgid] = row["inreplyto"]
        else:
            known[msgid] = msgid


def _roots_of_cards(msgids: Iterable[str], audiences: Sequence[str]) -> dict[str, str]:
    found: list[Any] = []
    for batch in batched(sorted(msgids)):
        cards = Card.objects.filter(msgid__in=batch, audience__in=audiences).exclude(root="")
        found += cards.values("msgid", "audience", "root")
    return {msgid: card["root"] for msgid, card in narrowest_by_msgid(found).items()}


def _climb(msgid: str, known: Mapping[str, str], above: Mapping[str, str]) -> str:
    """Return the topmost message above one that is known of; headers may form cycles."""
    passed: set[str] = set()
    while msgid not in known and msgid in above and msgid not in passed:
        passed.add(msgid)
        msgid = above[msgid]
    return known.get(msgid, msgid)
