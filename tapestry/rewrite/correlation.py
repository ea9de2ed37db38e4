"""Refuse an aggregate that nothing ties to the message: it would be over whole tables.

Such an aggregate is the same for every message, or a product of tables.  Its cost would follow
all mail and not the new mail: nothing tells which groups of rows a new row can change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import variables, walk
from tapestry.rewrite.stages import Conjunction, HavingTest, NormalAggregate, NormalQuery, TopKTest


def require_correlated(query: n.CheckedQuery, normal: NormalQuery) -> None:
    """Raise TapestryError at the first aggregate with rows that nothing ties to a row around it.

    A condition ties the variables that it reads, and so does a subquery; what is tied to a tied
    variable is tied too.  In an OR each alternative must do so.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> from tapestry.rewrite.pipeline import rewrite
    >>> query = rewrite(read("COUNT(r: r.size > m.size OR r.size > 9) > 5", Context()))
    Traceback (most recent call last):
    tapestry.core.errors.TapestryError: Nothing ties r to m: this COUNT would be over \
all rows of r, for every message.
    """
    for aggregate, outer in _aggregates(normal.disjuncts, normal.var):
        untied = next(_untied(aggregate), None)
        if untied is not None:
            tests = (
                node for node in walk(query.condition) if isinstance(node, n.Threshold | n.Top)
            )
            spans = (t.span for t in tests if t.aggregate.bindings == aggregate.bindings)
            column = "inreplyto" if untied.table == MESSAGES else "msgid"
            raise TapestryError(
                f"Nothing ties {untied.var} to {outer}: this {aggregate.function} would be over"
                f" all rows of {untied.var}, for every message.",
                next(spans, query.condition.span),
                f"Put what ties them into its condition, as {untied.var}.{column} ="
                f" {outer}.msgid does.",
            )


def _aggregates(
    parts: Collection[Conjunction], outer: str
) -> Iterator[tuple[NormalAggregate, str]]:
    """Yield the aggregates in conjunctions, each with the innermost message around it."""
    for part in parts:
        inside = _innermost(part.bindings, outer)
        yield from _aggregates(part.not_exists, inside)
        for test in part.aggregate_tests:
            around = inside
            if isinstance(test, TopKTest):
                around = _written(test)
                yield from _aggregates(test.among, around)
            yield test.aggregate, around
            yield from _aggregates(test.aggregate.rows, _innermost(test.aggregate.bindings, around))


def _innermost(bindings: Sequence[n.Binding], outer: str) -> str:
    messages = (binding.var for binding in reversed(bindings) if binding.table == MESSAGES)
    return next(messages, outer)


def _written(top: TopKTest) -> str:
    """Return how a filter names what it ranks: ``m IN TOP …`` ranks all m, under another name."""
    name = top.binding.var.rstrip("0123456789")
    return name if name == top.message.var else top.binding.var


def _untied(aggregate: NormalAggregate) -> Iterator[n.Binding]:
    """Yield the bindings of an aggregate that, in some alternative, nothing ties to the outside."""
    for row in aggregate.rows:
        inside = {binding.var for binding in (*aggregate.bindings, *row.bindings)}
        own = {binding.var for test in row.nested for binding in _bound(test)}
        ties = [variables(part) - own for part in (*row.plain, *row.temporal_predicates)]
        ties += [variables(part) - own for part in row.nested]
        untied = set(inside)
        while tied := [names for names in ties if names & untied and not names <= untied]:
            untied -= frozenset().union(*tied)
        yield from (binding for binding in aggregate.bindings if binding.var in untied)


def _bound(test: Conjunction | HavingTest | TopKTest) -> Iterator[n.Binding]:
    return (node for node in walk(test) if isinstance(node, n.Binding))
