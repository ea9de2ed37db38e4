"""Keep the table of threads: append the facts that follow from new messages, under the lock.

    new messages ─ headers ─> roots of their own ─┐
    facts about their parents ────────────────────┼─ least fixpoint ─> new facts, with the same ts
    messages that waited for one of them ─────────┘

A fact says that from its ``ts`` on a message belongs to the thread that ``root`` names.  The
rules are recursive, and only ever add facts (monotone):

1. A message with References belongs to the thread that the first of them names.  One without, and
   without a parent, begins its own.  One that names only a parent belongs to a thread of that name,
   unless the parent is there.  Of messages that became visible together and answer one another in
   a circle, the first by Message-ID begins their thread.
2. A message belongs to every thread of its parent, but to ``MOST_ROOTS`` at most: who sends a long
   thread backwards, message by message, gives each a root for every one that was above it.

The parent of a copy for an audience is what its In-Reply-To names, of the same audience or public:
all who may see the message may see what its facts follow from.  A parent that arrives late adds
facts to what is below it, once; nothing is rewritten.  The table is derived from the messages.  Up
to which ``ts`` it is complete is an app transaction of its log, so that whoever takes the lock
after a crash adds what is missing before anybody reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa

from tapestry.core.clock import BEGINNING
from tapestry.core.message import PUBLIC
from tapestry.core.schema import MESSAGES, THREADS
from tapestry.tables.delta.commit import commit
from tapestry.tables.delta.draft import Confirm, of_nobody_else
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.find import by_key, by_time
from tapestry.tables.rows import arrow_schema, ordered

COMPLETE = "messages"
"""The app transaction that says up to which ``ts`` of messages there are facts."""

HEADERS = ("msgid", "audience", "ts", "inreplyto", "references")

MOST_ROOTS = 64
"""Threads that a message belongs to, at most: those that came first, of one instant by name."""

NEAR = 4
"""Levels below a message that are looked up one by one; then the whole threads are."""

Node = tuple[str, str]
"""A message: its msgid, and the audience of the copy."""

Row = Mapping[str, Any]

FactsOf = Callable[[str, Collection[str]], Iterable[Row]]
"""Return the earlier facts of which a column, ``msgid`` or ``root``, has one of these values."""

RepliesTo = Callable[[Collection[str]], Iterable[Row]]
"""Return the earlier messages whose parent has one of these msgids."""


def extend_threads(tables: Tables, confirm: Confirm = of_nobody_else) -> bool:
    """Append the facts that follow from messages since the last call; tell whether there are any.

    The caller holds the clock's lock, as ``confirm`` makes sure.  Raise TapestryError if they
    cannot be written, or a file that they follow from is damaged.
    """
    messages = tables.data_files(MESSAGES)
    complete = tables.transaction(THREADS, COMPLETE)
    since = BEGINNING if complete is None else complete
    if messages.newest <= since:
        return False
    new = by_time(messages, MESSAGES, [(since, messages.newest)], HEADERS)
    rows = [] if new is None else sorted(new.to_pylist(), key=itemgetter("ts"))
    for ts, batch in groupby(rows, itemgetter("ts")):
        commit(tables, THREADS, derived(tables, list(batch), ts), {COMPLETE: ts}, {}, confirm)
    return bool(rows)


def derived(tables: Tables, batch: Sequence[Row], ts: int) -> pa.Table:
    """Return the facts that follow from messages that become visible together, as rows.

    A message has the columns ``HEADERS``, but for ``ts``.
    """
    facts = new_facts(batch, *_lookups(tables, ts))
    columns = {
        "msgid": [msgid for (msgid, _), _ in facts],
        "ts": [ts] * len(facts),
        "root": [root for _, root in facts],
        "audience": [audience for (_, audience), _ in facts],
    }
    return ordered(THREADS, pa.table(columns, schema=arrow_schema(THREADS)))


def _lookups(tables: Tables, ts: int) -> tuple[FactsOf, RepliesTo]:
    """Return how facts and replies before an instant are looked up, by the index."""

    def facts_of(column: str, values: Collection[str]) -> Iterable[Row]:
        return found(THREADS, column, values, ("msgid", "audience", "root"))

    def replies_to(msgids: Collection[str]) -> Iterable[Row]:
        return found(MESSAGES, "inreplyto", msgids, ("msgid", "audience", "inreplyto"))

    def found(table: str, column: str, values: Collection[str], names: Sequence[str]) -> list[Row]:
        files = tables.data_files(table)
        rows = by_key(files, tables.root, table, column, values, [*names, "ts"]).to_pylist()
        return [row for row in rows if row["ts"] < ts]

    return facts_of, replies_to


def new_facts(
    batch: Sequence[Row], facts_of: FactsOf, replies_to: RepliesTo
) -> list[tuple[Node, str]]:
    """Return the facts that follow from messages that became visible together, in order.

    Each is a message and the root of a thread that it belongs to from then on.

    >>> def message(msgid, inreplyto=None, *references):
    ...     return {"msgid": msgid, "audience": "public",
    ...             "inreplyto": inreplyto, "references": references}
    >>> none = lambda *_: []
    >>> for (msgid, _), root in new_facts([message("a"), message("b", "a")], none, none):
    ...     print(msgid, root)
    a a
    b a
    """
    names = {row["inreplyto"] for row in batch} - {None}
    nodes = {(row["msgid"], row["audience"]) for row in batch}
    growth = _Growth(nodes, facts_of, replies_to)
    growth.know(names)
    growth.know_replies({msgid for msgid, _ in nodes}, batch)
    beginning = _first_of_circles(batch, nodes)
    frontier: dict[Node, set[str]] = defaultdict(set)
    for row in batch:
        node = row["msgid"], row["audience"]
        above = _parents(row)
        if row["references"]:
            frontier[node].add(str(row["references"][0]))
        elif row["inreplyto"] is None or node in beginning:
            frontier[node].add(row["msgid"])
        elif not any(parent in nodes or parent in growth.known for parent in above):
            frontier[node].add(row["inreplyto"])
        for parent in above:
            frontier[node] |= growth.known.get(parent, set())
    growth.spread(frontier)
    return sorted((node, root) for node, roots in growth.fresh.items() for root in roots)


def all_facts(messages: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the rows of the table of threads that follow from all messages, oldest first."""
    facts: list[dict[str, Any]] = []
    by_value: dict[tuple[str, str], list[Row]] = defaultdict(list)
    by_parent: dict[str, list[Row]] = defaultdict(list)

    def facts_of(column: str, values: Collection[str]) -> Iterable[Row]:
        return [fact for value in values for fact in by_value.get((column, value), ())]

    def replies_to(msgids: Collection[str]) -> Iterable[Row]:
        return [reply for msgid in msgids for reply in by_parent.get(msgid, ())]

    for ts, batch in groupby(sorted(messages, key=itemgetter("ts")), itemgetter("ts")):
        rows = list(batch)
        for (msgid, audience), root in new_facts(rows, facts_of, replies_to):
            facts.append({"msgid": msgid, "ts": ts, "root": root, "audience": audience})
            by_value["msgid", msgid].append(facts[-1])
            by_value["root", root].append(facts[-1])
        for row in rows:
            by_parent[row["inreplyto"]].append(row)
    return facts


def _parents(row: Row) -> list[Node]:
    """Return the copies of a message's parent that its threads follow from."""
    if row["inreplyto"] is None:
        return []
    return [(row["inreplyto"], audience) for audience in {row["audience"], PUBLIC}]


def _first_of_circles(batch: Iterable[Row], nodes: Collection[Node]) -> set[Node]:
    """Return the first message of each circle: of messages without References, each a parent."""
    above = {
        (row["msgid"], row["audience"]): {parent for parent in _parents(row) if parent in nodes}
        for row in batch
        if row["inreplyto"] is not None and not row["references"]
    }
    above = _inverse(_without_ends(_inverse(_without_ends(above))))
    below = _inverse(above)
    first, seen = set[Node](), set[Node]()
    for node in sorted(above):
        if node not in seen:
            circle = _reached(node, above) & _reached(node, below)
            seen |= circle
            first |= {node} & circle
    return first


def _without_ends(edges: Mapping[Node, set[Node]]) -> dict[Node, set[Node]]:
    """Return the edges of the nodes from which one can go on for ever."""
    left = {node: {to for to in targets if to in edges} for node, targets in edges.items()}
    sources = _inverse(left)
    ends = [node for node, targets in left.items() if not targets]
    while ends:
        end = ends.pop()
        del left[end]
        for source in sources.get(end, ()):
            left[source].discard(end)
            if not left[source]:
                ends.append(source)
    return left


def _inverse(edges: Mapping[Node, set[Node]]) -> dict[Node, set[Node]]:
    inverse: dict[Node, set[Node]] = defaultdict(set)
    for node, targets in edges.items():
        for target in targets:
            inverse[target].add(node)
    return inverse


def _reached(start: Node, edges: Mapping[Node, set[Node]]) -> set[Node]:
    """Return what an edge or more lead to from a node."""
    reached, waiting = set[Node](), [start]
    while waiting:
        further = edges.get(waiting.pop(), set()) - reached
        reached |= further
        waiting.extend(further)
    return reached


@dataclass(slots=True)
class _Growth:
    """The facts that are known, and those that are new, about messages and what is below them."""

    nodes: set[Node]
    facts_of: FactsOf
    replies_to: RepliesTo
    known: dict[Node, set[str]] = field(default_factory=dict)
    fresh: dict[Node, set[str]] = field(default_factory=lambda: defaultdict(set))
    replies: dict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    looked_up: set[str] = field(default_factory=set)
    with_replies: set[str] = field(default_factory=set)

    def know(self, msgids: Collection[str]) -> None:
        """Look up the facts about messages, once."""
        wanted = set(msgids) - self.looked_up
        self.looked_up |= wanted
        for row in self.facts_of("msgid", wanted) if wanted else ():
            self.known.setdefault((row["msgid"], row["audience"]), set()).add(row["root"])

    def know_replies(self, msgids: Collection[str], batch: Iterable[Row] = ()) -> None:
        """Look up the replies to messages, once; those of a batch are given."""
        wanted = set(msgids) - self.with_replies
        self.with_replies |= wanted
        for row in (*batch, *(self.replies_to(wanted) if wanted else ())):
            if row["inreplyto"] is not None:
                self.replies[row["inreplyto"]].append((row["msgid"], row["audience"]))

    def know_threads(self, nodes: Iterable[Node]) -> None:
        """Look up all that is in the threads of messages: what is below them is among it."""
        roots = {root for node in nodes for root in self.known.get(node, ())}
        msgids = {row["msgid"] for row in self.facts_of("root", roots)} if roots else set()
        self.know(msgids)
        self.know_replies(msgids)

    def spread(self, frontier: Mapping[Node, set[str]]) -> None:
        """Give roots to messages, and to all that is below them."""
        for level in count():
            if not frontier:
                return
            older = {node[0] for node in frontier if node not in self.nodes}
            self.know(older)
            if level == NEAR:
                self.know_threads(frontier)
            self.know_replies(older)
            below: dict[Node, set[str]] = defaultdict(set)
            for node, roots in frontier.items():
                has = self.known.get(node, set()) | self.fresh.get(node, set())
                added = set(sorted(roots - has)[: max(0, MOST_ROOTS - len(has))])
                if added:
                    self.fresh[node] |= added
                    for reply in self._replies_seeing(node):
                        below[reply] |= added
            frontier = below

    def _replies_seeing(self, node: Node) -> Iterator[Node]:
        msgid, audience = node
        return (reply for reply in self.replies.get(msgid, ()) if audience in (reply[1], PUBLIC))
