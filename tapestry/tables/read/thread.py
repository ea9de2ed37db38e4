"""The thread around a message, as far as the reader may see it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import CARD, Card, card_of, lookup, narrowest_by_msgid

HIGHEST, DEEPEST = 100, 100
"""Lookups on the way up to the root of a thread and on the way down from there, at most.

What messages name in their References is found in one; without those a lookup is one level.
"""

LARGEST = 1000
"""Messages of a thread that are shown, at most."""

_COLUMNS = (*CARD, "audience", "inreplyto")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A message of a thread and its depth below the topmost visible message, which has depth 0.

    ``parent`` is the Message-ID it replies to, None if it starts a thread.  ``goes_on``: there are
    replies to it that are left out.
    """

    depth: int
    card: Card
    parent: str | None = None
    goes_on: bool = False


def thread(tables: Tables, msgid: str, audiences: Collection[str]) -> list[ThreadEntry]:
    """Return the thread of a message in reading order (preorder): a message before its replies.

    Goes up by In-Reply-To as far as the audiences can see, and down from there, by so many
    lookups and to so many messages as the limits above allow; the replies to a message are in
    order of arrival.  Empty if the message itself cannot be seen.  Headers may form cycles: a
    message is visited once.
    """
    data_files = tables.data_files(MESSAGES)
    path = _path(tables, data_files, msgid, audiences)
    if not path:
        return []
    root = next(iter(path))
    known = {root: path[root]}
    replies: dict[str, list[str]] = {}
    cut: set[str] = set()
    # All that stand between the root and the message are known: their replies take one lookup.
    parents = list(path)
    for lookups in range(DEEPEST + 1):
        rows = lookup(tables, MESSAGES, "inreplyto", parents, audiences, _COLUMNS, data_files)
        parents = []
        for row in _narrowest_copies(rows):
            if row["msgid"] in known:
                continue
            if row["msgid"] not in path and (lookups == DEEPEST or len(known) >= LARGEST):
                cut.add(row["inreplyto"])
                continue
            known[row["msgid"]] = row
            replies.setdefault(row["inreplyto"], []).append(row["msgid"])
            if row["msgid"] not in path:
                parents.append(row["msgid"])
        if not parents:
            break
    return _in_reading_order(root, known, replies, cut)


def _path(
    tables: Tables, data_files: tuple[DataFile, ...], msgid: str, audiences: Collection[str]
) -> dict[str, Row]:
    """Return the messages from the topmost visible one to this one, by msgid; none if it is not."""
    columns = (*_COLUMNS, "references")
    path: dict[str, Row] = {}
    above: str | None = msgid
    last: Row | None = None
    nearby: dict[str, Row] = {}
    lookups = 0
    while above is not None and above not in path and len(path) < LARGEST:
        if above not in nearby:
            if lookups > HIGHEST:
                break
            lookups += 1
            # References usually name the whole chain, so one more lookup finds all of it.
            wanted = [above, *(last["references"] if last else ())]
            rows = lookup(tables, MESSAGES, "msgid", wanted, audiences, columns, data_files)
            for row in _narrowest_copies(rows):
                nearby.setdefault(row["msgid"], row)
        if above not in nearby:
            break
        last = path[above] = nearby[above]
        above = last["inreplyto"]
    return dict(reversed(path.items()))


def _narrowest_copies(rows: list[Row]) -> list[Row]:
    """Return the narrowest copy of each message, in the order given."""
    chosen = narrowest_by_msgid(rows)
    return [chosen[msgid] for msgid in dict.fromkeys(row["msgid"] for row in rows)]


def _in_reading_order(
    root: str, known: dict[str, Row], replies: dict[str, list[str]], cut: set[str]
) -> list[ThreadEntry]:
    entries = []
    waiting = [(0, root)]
    while waiting:
        depth, msgid = waiting.pop()
        row = known[msgid]
        entries.append(ThreadEntry(depth, card_of(row), row["inreplyto"], msgid in cut))
        waiting.extend((depth + 1, reply) for reply in reversed(replies.get(msgid, [])))
    return entries
