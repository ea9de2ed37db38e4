"""The thread around a message, as far as the reader may see it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Tables
from tapestry.tables.read import CARD, Card, card_of, lookup, narrowest_first

HIGHEST = 100
"""Steps up from a message to the root of its thread, at most."""

LARGEST = 1000
"""Messages of a thread that are shown, at most."""

_COLUMNS = (*CARD, "audience", "inreplyto")


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A message of a thread and its depth below the topmost visible message, which has depth 0.

    ``parent`` is the Message-ID it replies to, None if it starts a thread.
    """

    depth: int
    card: Card
    parent: str | None = None


def thread(tables: Tables, msgid: str, audiences: Collection[str]) -> list[ThreadEntry]:
    """Return the thread of a message in reading order (preorder): a message before its replies.

    Goes up by In-Reply-To as far as the audiences can see, at most HIGHEST steps, and down
    from there, at most LARGEST messages; the replies to a message are in order of arrival.
    Empty if the message itself cannot be seen.  Headers may form cycles: a message is visited
    once.
    """
    data_files = tables.data_files(MESSAGES)
    root = _start(tables, data_files, msgid, audiences)
    if root is None:
        return []
    known = {root["msgid"]: root}
    replies: dict[str, list[str]] = {}
    level = [root["msgid"]]
    while level and len(known) < LARGEST:
        parents, level = level, []
        rows = lookup(tables, MESSAGES, "inreplyto", parents, audiences, _COLUMNS, data_files)
        for row in _narrowest_copies(rows):
            if row["msgid"] not in known and len(known) < LARGEST:
                known[row["msgid"]] = row
                replies.setdefault(row["inreplyto"], []).append(row["msgid"])
                level.append(row["msgid"])
    return _in_reading_order(root["msgid"], known, replies)


def _start(
    tables: Tables, data_files: tuple[DataFile, ...], msgid: str, audiences: Collection[str]
) -> dict[str, Any] | None:
    columns = (*_COLUMNS, "references")
    root: dict[str, Any] | None = None
    above: str | None = msgid
    nearby: dict[str, dict[str, Any]] = {}
    passed: set[str] = set()
    while above is not None and above not in passed and len(passed) <= HIGHEST:
        if above not in nearby:
            # References usually name the whole chain, so one more lookup finds all of it.
            wanted = [above, *(root["references"] if root else ())]
            rows = lookup(tables, MESSAGES, "msgid", wanted, audiences, columns, data_files)
            for row in _narrowest_copies(rows):
                nearby.setdefault(row["msgid"], row)
        if above not in nearby:
            break
        passed.add(above)
        root = nearby[above]
        above = root["inreplyto"]
    return root


def _narrowest_copies(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the narrowest copy of each message, in the order given."""
    chosen = {row["msgid"]: row for row in reversed(narrowest_first(rows))}
    return [chosen[msgid] for msgid in dict.fromkeys(row["msgid"] for row in rows)]


def _in_reading_order(
    root: str, known: dict[str, dict[str, Any]], replies: dict[str, list[str]]
) -> list[ThreadEntry]:
    entries = []
    waiting = [(0, root)]
    while waiting:
        depth, msgid = waiting.pop()
        row = known[msgid]
        entries.append(ThreadEntry(depth, card_of(row), row["inreplyto"]))
        waiting.extend((depth + 1, reply) for reply in reversed(replies.get(msgid, [])))
    return entries
