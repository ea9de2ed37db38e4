"""Lower disjuncts to one SQL statement, each for all rows of its signature group.

Spark refuses a correlated subquery that reaches over a level, so quantifiers become joins: the
rows that drive a delta query give candidates, a relation ``(filter, disjunct, c, columns …)``,
and ``nested`` lowers the tests of other rows to joins with it.

    groups ─ candidates ─> SELECTs ─ nested, aggregates, top_k ─> CTEs ─ assembly ─> statement
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tapestry.core.schema import Type
from tapestry.plan import sql
from tapestry.plan.group import SignatureGroup
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.candidates import Covers, DisjunctLowering
from tapestry.plan.relation import Field, Range, Relation, Statement

FILTER_ID, MSGID = Field("filter_id", Type.INTEGER), Field("msgid", Type.TEXT)
AT = Field("at", Type.INSTANT)


def lower(groups: Sequence[SignatureGroup], until: int, covers: Covers) -> Statement | None:
    """Return the statement that finds each filter's candidates in (its since, its until].

    ``until`` is the greatest of theirs.  One row per filter and message: the least c, with
    the evidence for it.  A delta query whose slice of its driving table is empty, as ``covers``
    tells, is left out; None if all are.
    """
    assembly = Assembly(_windows(groups, until))
    for group in groups:
        assembly.selects += DisjunctLowering(assembly, group).candidates(until, covers)
    return assembly.first_matches() if assembly.selects else None


def lower_events(groups: Sequence[SignatureGroup], until: int, covers: Covers) -> Statement | None:
    """Return the statement for the instants in each filter's window at which Q can change.

    A row for each filter, message and instant c; msgid is NULL where every message's answer
    can change at c.  For the delta queries of the general rule only; None if nothing happened.
    """
    assembly = Assembly(_windows(groups, until))
    for group in groups:
        assembly.selects += DisjunctLowering(assembly, group).events(until, covers)
    return assembly.first_matches("c") if assembly.selects else None


def lower_at(groups: Sequence[SignatureGroup], at: int) -> Statement:
    """Return the statement for Q(at) of each filter."""
    assembly = Assembly({row.filter_id: (at, at) for group in groups for row in group.rows})
    for group in groups:
        assembly.selects.append(DisjunctLowering(assembly, group).answer_at(sql.literal(at)))
    return assembly.first_matches()


def lower_each(groups: Sequence[SignatureGroup], asked: Sequence[tuple[int, int]]) -> Statement:
    """Return the statement for Q(c) of the filters and instants asked."""
    return _asked(groups, (FILTER_ID, AT), asked)


def lower_among(
    groups: Sequence[SignatureGroup], asked: Sequence[tuple[int, str, int]]
) -> Statement:
    """Return the statement for those of the filters, msgids and instants asked that match."""
    return _asked(groups, (FILTER_ID, MSGID, AT), asked)


def _asked(
    groups: Sequence[SignatureGroup], fields: tuple[Field, ...], rows: Sequence[tuple[Any, ...]]
) -> Statement:
    instants: dict[int, list[int]] = defaultdict(list)
    for filter_id, *_, at in rows:
        instants[filter_id].append(at)
    assembly = Assembly({key: (min(every), max(every)) for key, every in instants.items()})
    assembly.relations.append(Relation("asked", fields, tuple(rows)))
    for group in groups:
        lowering = DisjunctLowering(assembly, group)
        assembly.selects.append(lowering.answer_at(sql.column("at", "a"), fields))
    return assembly.first_matches("c")


def _windows(groups: Sequence[SignatureGroup], until: int) -> dict[int, Range]:
    return {
        row.filter_id: (row.since, min(row.until, until)) for group in groups for row in group.rows
    }
