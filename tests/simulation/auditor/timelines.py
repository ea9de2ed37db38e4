"""When each message matches each filter, computed once and kept while nothing new can change it."""

from __future__ import annotations

from tests.simulation.auditor.answers import answer
from tests.simulation.auditor.nodes import (
    ANNOTATIONS,
    MESSAGES,
    Agreement,
    Binding,
    Node,
    walk,
)
from tests.simulation.auditor.reader import read
from tests.simulation.auditor.spans import NONE, Spans, holds, union
from tests.simulation.auditor.story import Known
from tests.simulation.auditor.tables import Tables
from tests.simulation.auditor.waiting import ORDINARY, Clock

Timeline = dict[str, Spans]
Signature = tuple[int, int, int]


class Timelines:
    """The answers of filters over the rows that are known; rows only come, or are forgotten."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.forgotten = 0
        self._counts: dict[frozenset[str], tuple[int, int]] = {}
        self._tables: dict[frozenset[str], tuple[Signature, Tables]] = {}
        self._kept: dict[tuple[str, frozenset[str]], tuple[Signature, Timeline]] = {}

    def looked(self, gone: bool) -> None:
        """Take note that the rows were looked at anew, and whether any is gone."""
        self._counts.clear()
        self.forgotten += gone

    def of(self, tql: str, audiences: frozenset[str], clock: Clock = ORDINARY) -> Timeline:
        """Return when each message matches, for one who may see these audiences, by a clock."""
        if not tql:
            return {}
        signature, tables = self._seen_by(audiences)
        if clock != ORDINARY:
            return answer(read(tql), tables, clock=clock)
        kept = self._kept.get((tql, audiences))
        if kept and kept[0] == signature:
            return kept[1]
        condition = read(tql)
        if kept and kept[0][2] == signature[2] and not _concerns(condition, kept[0], signature):
            found = kept[1]
        elif kept and kept[0][2] == signature[2] and not _subqueries(condition):
            new = tables.rows[MESSAGES][kept[0][0] :]
            found = dict(kept[1])
            for msgid, spans in answer(condition, tables, rows=new).items():
                found[msgid] = union(found.get(msgid, NONE), spans)
        else:
            found = answer(condition, tables)
        self._kept[tql, audiences] = signature, found
        return found

    def tables(self, audiences: frozenset[str]) -> Tables:
        """Return the rows that are known as one finds them who may see these audiences."""
        return self._seen_by(audiences)[1]

    def _seen_by(self, audiences: frozenset[str]) -> tuple[Signature, Tables]:
        rows = self.known.rows
        if audiences not in self._counts:
            mail, notes = (
                sum(audience in audiences for _, audience in rows[table])
                for table in (MESSAGES, ANNOTATIONS)
            )
            self._counts[audiences] = mail, notes
        signature = (*self._counts[audiences], self.forgotten)
        kept = self._tables.get(audiences)
        if kept is None or kept[0] != signature:
            in_order = sorted(rows[MESSAGES].values(), key=lambda row: row["ts"])
            # What was forgotten is not known any more; what followed from it stays.
            facts = self.known.facts if self.known.has_forgotten else None
            tables = Tables(in_order, rows[ANNOTATIONS].values(), audiences, facts)
            kept = self._tables[audiences] = signature, tables
        return kept


def _subqueries(condition: Node) -> bool:
    return any(isinstance(node, Agreement | Binding) for node in walk(condition))


def _concerns(condition: Node, before: Signature, now: Signature) -> bool:
    """Return whether rows that have come since can change an answer: of tables that it names."""
    if before[0] != now[0]:
        return True
    return any(isinstance(b, Binding) and b.table == ANNOTATIONS for b in walk(condition))


def first_after(spans: Spans, start: int | None) -> int | None:
    """Return ``matched_at`` of a message, given T0; None if it is not delivered.

    >>> first_after(((3, 5), (8, 9)), None), first_after(((3, 5), (8, 9)), 4)
    (3, None)
    >>> first_after(((3, 5), (8, 9)), 6)
    8
    """
    if start is None:
        return spans[0][0] if spans else None
    if holds(spans, start):
        return None
    return next((begin for begin, _ in spans if begin > start), None)


def since_when(spans: Spans, t: int, start: int | None) -> int | None:
    """Return since when a message is in a live list at ``t``; None if it is not.

    What matched at T0 is not there until it has ceased to match.
    """
    for begin, end in spans:
        if begin <= t < end:
            return begin if start is None or begin > start else None
    return None
