"""The thread around a message, as far as the reader may see it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapestry.core.schema import MESSAGES
from tapestry.tables.log import DataFile, Tables, data_files_of
from tapestry.tables.read import CARD, Card, lookup, narrowest_first

HIGHEST = 100
"""Steps up from a message to the start of its thread."""

LARGEST = 1000
"""Messages of a thread that are shown."""

_COLUMNS = (*CARD, "audience", "inreplyto")


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A message of a thread and its depth below the first that is here, which has depth 0.

    ``parent`` is the message it answers, None of one that starts a thread.
    """

    depth: int
    card: Card
    parent: str | None = None


def thread(tables: Tables, msgid: str, audiences: Collection[str]) -> list[ThreadEntry]:
    """Return the thread of a message in reading order: each message before its replies.

    Goes up by In-Reply-To as far as the audiences can see, at most HIGHEST steps, and down
    from there, at most LARGEST messages; replies to one message stand in order of arrival.
    Empty if the message itself cannot be seen.  Cycles (mail can claim anything) end where
    they meet themselves.
    """
    data_files = data_files_of(tables.open(MESSAGES))
    root = _start(tables.root, data_files, msgid, audiences)
    if root is None:
        return []
    known = {root["msgid"]: root}
    replies: dict[str, list[str]] = {}
    level = [root["msgid"]]
    while level and len(known) < LARGEST:
        below = []
        found = lookup(
            data_files, MESSAGES, "inreplyto", level, audiences, _COLUMNS, root=tables.root
        )
        for row in _one_copy(found):
            if row["msgid"] not in known and len(known) < LARGEST:
                known[row["msgid"]] = row
                replies.setdefault(row["inreplyto"], []).append(row["msgid"])
                below.append(row["msgid"])
        level = below
    return _in_reading_order(root["msgid"], known, replies)


def _start(
    where: Path, data_files: tuple[DataFile, ...], msgid: str, audiences: Collection[str]
) -> dict[str, Any] | None:
    columns = (*_COLUMNS, "references")
    root: dict[str, Any] | None = None
    above: str | None = msgid
    near: dict[str, dict[str, Any]] = {}
    passed: set[str] = set()
    while above is not None and above not in passed and len(passed) <= HIGHEST:
        if above not in near:
            # References name the whole chain as a rule, so one more look finds all of it.
            wanted = [above, *(root["references"] if root else ())]
            found = lookup(data_files, MESSAGES, "msgid", wanted, audiences, columns, root=where)
            for row in _one_copy(found):
                near.setdefault(row["msgid"], row)
        if above not in near:
            break
        passed.add(above)
        root = near[above]
        above = root["inreplyto"]
    return root


def _one_copy(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the narrowest copy of each message, in the order in which they stand."""
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
        card = Card(**{name: row[name] for name in CARD})
        entries.append(ThreadEntry(depth, card, row["inreplyto"]))
        waiting.extend((depth + 1, reply) for reply in reversed(replies.get(msgid, [])))
    return entries
