"""The conversation of a message, named by the root of its thread: rows and muting go by it.

    facts: which threads a message belongs to ─ those that go on under no other name ─┐
           ─ of the messages that these are named after, if all do ───────────────────┴─> the oldest

Facts come with mail (tapestry.tables.write.threads), and only ever more of them.  A thread that is
named after a message goes on under another name as soon as that message belongs to another thread:
so a parent that arrives late brings together what answers it and what it answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from tapestry.core.message import PUBLIC
from tapestry.core.schema import THREADS
from tapestry.tables.delta.data_files import DataFiles
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.find import by_key

Facts = Callable[[str, Collection[str], Collection[str] | None], list[dict[str, Any]]]
"""Return the facts of which a column has one of some values, for some audiences or for all."""


def facts_in(tables: Tables, data_files: DataFiles) -> Facts:
    """Return how facts are looked up in some files of the table."""
    return partial(_facts, tables, data_files)


def roots_of(facts: Facts, audience: str, msgids: Collection[str]) -> dict[str, str]:
    """Return the names of the conversations of messages, the copies for one audience, by msgid.

    They follow from facts alone that all who may see these messages may see.  A message of which
    there are none is left out.
    """
    seen = list(dict.fromkeys([audience, PUBLIC]))
    belongs = _roots(facts("msgid", msgids, [audience]))
    others: dict[str, set[str]] = {}
    found, open_ = dict[str, set[str]](), dict(belongs)
    while open_:
        wanted = set().union(*open_.values()) - others.keys()
        others |= _roots(facts("msgid", wanted, seen))
        others |= {root: set() for root in wanted - others.keys()}
        for msgid, roots in list(open_.items()):
            lasting = {root for root in roots if not others[root] - {root}}
            wider = roots.union(*(others[root] for root in roots))
            if lasting or wider == roots:
                found[msgid] = lasting or roots
                del open_[msgid]
            else:
                open_[msgid] = wider
    several = {root for roots in found.values() if len(roots) > 1 for root in roots}
    began: dict[str, int] = {}
    for row in sorted(facts("root", several, seen), key=lambda row: -row["ts"]):
        began[row["root"]] = row["ts"]
    return {
        msgid: min(roots, key=lambda root: (began.get(root, 0), root))
        for msgid, roots in found.items()
    }


def named_after(facts: Facts, msgids: Collection[str]) -> set[str]:
    """Return messages, and those whose conversation's name may follow from facts about them."""
    found, new = set(msgids), set(msgids)
    while new:
        new = {row["msgid"] for row in facts("root", new, None)} - found
        found |= new
    return found


def _facts(
    tables: Tables,
    data_files: DataFiles,
    column: str,
    values: Collection[str],
    audiences: Collection[str] | None,
) -> list[dict[str, Any]]:
    names = ("msgid", "root", "audience", "ts")
    rows = by_key(data_files, tables.root, THREADS, column, values, names, audiences).to_pylist()
    return list(rows)


def _roots(rows: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    roots: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        roots[row["msgid"]].add(row["root"])
    return dict(roots)
