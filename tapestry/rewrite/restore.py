"""Stages back to conditions, to show them and to test that a rule kept the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.rewrite.monotone.bound_in_time import arrival, end, surely_before
from tapestry.rewrite.monotonicity import Monotonicity, analyze
from tapestry.rewrite.stages import (
    Conjunction,
    DeltaQuery,
    EventPoint,
    HavingTest,
    MonotoneDisjunct,
    TopKTest,
)

FIRST = n.Column("", "C", Type.INSTANT)
"""Stands for the earliest instant at which the rest of a disjunct holds."""

SINCE = n.Column("", "since", Type.INSTANT)
UNTIL = n.Column("", "until", Type.INSTANT)


def conjunction_condition(part: Conjunction) -> n.Condition:
    """Return EXISTS (bindings: the conjunction), or the conjunction where it binds nothing.

    >>> from tapestry.rewrite.examples import conjunction, show
    >>> show(conjunction_condition(conjunction("m.msgid IN (SELECT r.inreplyto FROM messages r)")))
    EXISTS (r: m.msgid = r.inreplyto)
    """
    absent = (n.Not(conjunction_condition(inner)) for inner in part.not_exists)
    counts = (_count(test, conjunction_condition) for test in part.aggregate_tests)
    inside = n.And.of([*part.plain, *part.temporal_predicates, *absent, *counts])
    return n.Exists(part.bindings, inside) if part.bindings else inside


def monotone_condition(disjunct: MonotoneDisjunct) -> n.Condition:
    """Return what a disjunct matches once and for all, C being its earliest instant.

    C must come before the ends, and NOT EXISTS is tested over the rows visible at C
    [Terry92 §4.2, §4.3].

    >>> from tapestry.rewrite.examples import disjunct, show
    >>> show(monotone_condition(disjunct("m.date > now() AND NOT EXISTS (r: r.size > m.size)")))
    C < m.date AND NOT EXISTS (r: r.size > m.size AND r.ts <= C)
    """
    conjunction = disjunct.conjunction
    tested_once = analyze(conjunction).monotonicity is not Monotonicity.AT_EVENTS
    absent = [
        n.Not(*_tests_at(inner, FIRST)) if tested_once else n.Not(conjunction_condition(inner))
        for inner in conjunction.not_exists
    ]
    begins = [time for time in conjunction.temporal_predicates if time.op in (">", ">=")]
    ends = [time for time in conjunction.temporal_predicates if time.op in ("<", "<=")]
    if tested_once:
        ends = [replace(time, left=FIRST) for time in ends if not _surely_later(disjunct, time)]
    counts = [_count(test, conjunction_condition) for test in conjunction.aggregate_tests]
    inside = n.And.of([*conjunction.plain, *begins, *ends, *absent, *counts])
    return n.Exists(conjunction.bindings, inside) if conjunction.bindings else inside


def _surely_later(disjunct: MonotoneDisjunct, time: n.Compare) -> bool:
    return len(disjunct.starts) == 1 and surely_before(disjunct.starts[0], end(time))


def delta_query_condition(delta_query: DeltaQuery) -> n.Condition:
    """Return the condition under which a delta query finds a match at C, the value of its event.

    >>> from tapestry.query.tree.printer import print_condition
    >>> from tapestry.rewrite.examples import DELIVERED, disjunct
    >>> from tapestry.rewrite.incremental.own_columns import own_columns
    >>> (delta_query,) = own_columns(DELIVERED, disjunct("m.size > 1")) or ()
    >>> print_condition(delta_query_condition(delta_query))
    'since < C AND C <= until AND m.size > 1'
    """
    low = n.Compare("<", SINCE, FIRST)
    high = n.Compare("<=", FIRST, UNTIL)
    before = [_is_past(point) for point in delta_query.before]
    tested = _tests_at(delta_query.test, FIRST)
    return n.And.of([low, high, *delta_query.plain, *before, *tested])


def _tests_at(part: Conjunction, instant: n.Term) -> list[n.Condition]:
    """Return the parts of a conjunction at an instant; with bindings, one EXISTS of them."""
    arrived = _arrived(part.bindings, instant)
    times = [replace(time, left=instant) for time in part.temporal_predicates]
    absent = [n.Not(*_tests_at(inner, instant)) for inner in part.not_exists]

    def row_at(row: Conjunction) -> n.Condition:
        return n.And.of(_tests_at(row, instant))

    counts = [_count(test, row_at, instant) for test in part.aggregate_tests]
    tests: list[n.Condition] = [*part.plain, *arrived, *times, *absent, *counts]
    return [n.Exists(part.bindings, n.And.of(tests))] if part.bindings else tests


def _count(
    test: HavingTest | TopKTest,
    row: Callable[[Conjunction], n.Condition],
    instant: n.Term | None = None,
) -> n.Condition:
    """Return a test of an aggregate; ``row`` restores the conjunctions of its rows."""

    def rows(bindings: Sequence[n.Binding], parts: Sequence[Conjunction]) -> n.Condition:
        arrived = _arrived(bindings, instant) if instant is not None else []
        inside = n.Or.of(map(row, parts))
        # The condition of the rows stays in parentheses beside their arrival.
        return n.And((*arrived, inside)) if arrived else inside

    counted = test.aggregate
    condition = rows(counted.bindings, counted.rows)
    aggregate = n.Aggregate(
        counted.function,
        counted.distinct,
        counted.term,
        counted.bindings,
        condition,
        among=counted.among,
    )
    if isinstance(test, HavingTest):
        return n.Threshold(aggregate, test.op, test.constant)
    among = rows((test.binding,), test.among)
    top = n.Top(test.message, test.limit, test.binding, aggregate, among)
    return n.Not(top) if test.negated else top


def _arrived(bindings: Sequence[n.Binding], instant: n.Term) -> list[n.Compare]:
    return [n.Compare("<=", arrival(binding).term, instant) for binding in bindings]


def _is_past(point: EventPoint) -> n.Compare:
    return n.Compare("<" if point.shift else "<=", point.term, FIRST)
