"""Stages back to conditions, to show them and to test that a rule kept the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tapestry.core.schema import Type
from tapestry.query.tree.nodes import (
    Aggregate,
    And,
    Binding,
    Column,
    Compare,
    Condition,
    Exists,
    Not,
    Or,
    Term,
    Threshold,
    Top,
    Truth,
)
from tapestry.rewrite.monotone.bound_in_time import end, surely_before
from tapestry.rewrite.stages import (
    Conjunction,
    DeltaQuery,
    EventPoint,
    HavingTest,
    MonotoneDisjunct,
    NormalQuery,
    TopKTest,
)

FIRST = Column("", "C", Type.INSTANT)
"""Stands for the earliest instant at which the rest of a disjunct holds."""

SINCE = Column("", "since", Type.INSTANT)
UNTIL = Column("", "until", Type.INSTANT)


def normal_condition(query: NormalQuery) -> Condition:
    """Return a filter in normal form as one condition."""
    return either([conjunction_condition(part) for part in query.disjuncts])


def conjunction_condition(part: Conjunction) -> Condition:
    """Return EXISTS (bindings: the conjunction), or the conjunction where it binds nothing."""
    absent = (Not(conjunction_condition(inner)) for inner in part.not_exists)
    counts = (_count(test, conjunction_condition) for test in part.aggregate_tests)
    whole = both([*part.plain, *part.temporal_predicates, *absent, *counts])
    return Exists(part.bindings, whole) if part.bindings else whole


def monotone_condition(disjunct: MonotoneDisjunct) -> Condition:
    """Return what a disjunct matches once and for all, C being its earliest instant.

    Sections 4.2 and 4.3 of the paper: C must come before the ends, and NOT EXISTS is tested
    over the rows visible at C.
    """
    whole = disjunct.conjunction
    absent = [
        _absent_at(part, FIRST) if disjunct.steady else Not(conjunction_condition(part))
        for part in whole.not_exists
    ]
    begins = [time for time in whole.temporal_predicates if time.op in (">", ">=")]
    ends = [time for time in whole.temporal_predicates if time.op in ("<", "<=")]
    if disjunct.steady:
        ends = [replace(time, left=FIRST) for time in ends if not _surely_later(disjunct, time)]
    counts = [_count(test, conjunction_condition) for test in whole.aggregate_tests]
    inside = both([*whole.plain, *begins, *ends, *absent, *counts])
    return Exists(whole.bindings, inside) if whole.bindings else inside


def _surely_later(disjunct: MonotoneDisjunct, time: Compare) -> bool:
    return len(disjunct.starts) == 1 and surely_before(disjunct.starts[0], end(time))


def delta_query_condition(delta_query: DeltaQuery) -> Condition:
    """Return the condition under which a delta query finds a match at C, the value of its event."""
    low = Compare("<", SINCE, FIRST)
    high = Compare("<=", FIRST, UNTIL)
    before = [_reached(moment) for moment in delta_query.before]
    tested = _held_at(delta_query.test, FIRST)
    return both([low, high, *delta_query.plain, *before, *tested])


def _absent_at(part: Conjunction, instant: Term) -> Condition:
    return Not(Exists(part.bindings, both(_held_at(replace(part, bindings=()), instant, part))))


def _held_at(
    part: Conjunction, instant: Term, visible: Conjunction | None = None
) -> list[Condition]:
    """Return the parts of a conjunction at an instant, its rows visible by then."""
    rows = (visible or part).bindings
    arrived = [Compare("<=", Column(b.var, "ts", Type.INSTANT), instant) for b in rows]
    times = [replace(time, left=instant) for time in part.temporal_predicates]
    inner = [_absent_at(one, instant) for one in part.not_exists]

    def row_at(row: Conjunction) -> Condition:
        return both(_held_at(row, instant))

    counts = [_count(test, row_at, instant) for test in part.aggregate_tests]
    whole: list[Condition] = [*part.plain, *arrived, *times, *inner, *counts]
    return [Exists(part.bindings, both(whole))] if part.bindings else whole


def _count(
    test: HavingTest | TopKTest,
    row: Callable[[Conjunction], Condition],
    instant: Term | None = None,
) -> Condition:
    """Return a test of an aggregate; ``row`` restores the conjunctions of its rows."""

    def rows(bindings: Sequence[Binding], parts: Sequence[Conjunction]) -> Condition:
        arrived = [
            Compare("<=", Column(b.var, "ts", Type.INSTANT), instant)
            for b in bindings
            if instant is not None
        ]
        return both([*arrived, either([row(part) for part in parts])])

    total = test.aggregate
    aggregate = Aggregate(
        total.function,
        total.distinct,
        total.term,
        total.bindings,
        rows(total.bindings, total.rows),
    )
    if isinstance(test, HavingTest):
        return Threshold(aggregate, test.op, test.constant)
    among = rows((test.binding,), test.among)
    top = Top(test.message, test.limit, test.binding, aggregate, among)
    return Not(top) if test.negated else top


def _reached(moment: EventPoint) -> Compare:
    return Compare("<" if moment.shift else "<=", moment.term, FIRST)


def both(parts: Sequence[Condition]) -> Condition:
    """Return the AND of any number of conditions."""
    if len(parts) == 1:
        return parts[0]
    return And(tuple(parts)) if parts else Truth(True)


def either(parts: Sequence[Condition]) -> Condition:
    """Return the OR of any number of conditions."""
    if len(parts) == 1:
        return parts[0]
    return Or(tuple(parts)) if parts else Truth(False)
