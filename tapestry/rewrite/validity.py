"""Valid annotations: a disjunct in which each counts only until it is taken back.

An annotation stands from its ``ts`` on, until it is retracted: its validity interval.  So a filter
that reads annotations has one more upper bound for each, ``now() < a.retracted``, and the rules
of intervals hold: an upper bound never begins a match, except inside NOT EXISTS and aggregates,
where its end is an event.  While no table has a retraction the bound says nothing, and plans are
made without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tapestry.core.schema import ANNOTATIONS, RETRACTED, Type
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import Conjunction, HavingTest, NormalAggregate, TopKTest


def bound_by_validity(part: Conjunction, around: Sequence[n.Binding] = ()) -> Conjunction:
    """Return a conjunction in which annotations count while they stand; itself if it reads none.

    ``around`` are variables that are bound with it: those of an aggregate.

    >>> from tapestry.rewrite.examples import conjunction
    >>> part = conjunction("EXISTS (a IN annotations: a.msgid = m.msgid)")
    >>> [(bound.op, bound.right.name) for bound in bound_by_validity(part).temporal_predicates]
    [('<', 'retracted')]
    >>> replies = conjunction("NOT EXISTS (r: r.inreplyto = m.msgid)")
    >>> bound_by_validity(replies) is replies
    True
    """
    bounds = [
        n.Compare("<", n.Now(), n.Column(binding.var, RETRACTED, Type.INSTANT))
        for binding in (*around, *part.bindings)
        if binding.table == ANNOTATIONS
    ]
    limited = replace(
        part,
        temporal_predicates=(*part.temporal_predicates, *bounds),
        not_exists=tuple(bound_by_validity(inner) for inner in part.not_exists),
        having_tests=tuple(_having(test) for test in part.having_tests),
        top_k_tests=tuple(_top_k(test) for test in part.top_k_tests),
    )
    return part if limited == part else limited


def _having(test: HavingTest) -> HavingTest:
    return replace(test, aggregate=_aggregate(test.aggregate))


def _top_k(test: TopKTest) -> TopKTest:
    among = tuple(bound_by_validity(part, (test.binding,)) for part in test.among)
    return replace(test, aggregate=_aggregate(test.aggregate), among=among)


def _aggregate(aggregate: NormalAggregate) -> NormalAggregate:
    rows = tuple(bound_by_validity(part, aggregate.bindings) for part in aggregate.rows)
    return replace(aggregate, rows=rows)
