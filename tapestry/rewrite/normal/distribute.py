"""Disjunctive normal form: multiply out to an OR of ANDs, EXISTS becoming bound variables."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain, product
from math import prod
from operator import attrgetter
from typing import Any, NamedTuple

from tapestry.core.errors import TapestryError
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import distinct, is_plain, is_temporal, variables
from tapestry.rewrite.stages import Conjunction, HavingTest, NormalAggregate, TopKTest

MOST_DISJUNCTS = 256
"""Disjuncts of a filter; and conjunctions in a disjunct, its NOT EXISTS included."""

MOST_WRITTEN = 1024
"""Alternatives where an OR that is kept as one predicate is multiplied out as well."""

MOST_TESTS = 16_384
"""Comparisons in all disjuncts together."""

MOST_VARIABLES = 64
"""Rows that one conjunction may join."""


def distribute(condition: n.Condition) -> tuple[Conjunction, ...]:
    """Return the disjuncts of a condition in which NOT is pushed inwards and now() isolated.

    Law: a row satisfies the condition just if it satisfies some disjunct.  EXISTS
    distributes over OR; NOT EXISTS over an OR is the AND of a NOT EXISTS for each part; an
    aggregate stands over the OR of the conjunctions that its rows may meet.
    An OR without subqueries about a single variable is kept: to [Terry92 §4.2] it is one
    boolean expression, and it costs no second plan.  Raises TapestryError if multiplying
    everything out would give too much, before it does.

    >>> from tapestry.rewrite.examples import condition, show
    >>> text = "EXISTS (r: r.size > 1 AND (r.inreplyto = m.msgid OR m.size > r.size))"
    >>> show(distribute(condition(text)))
    EXISTS (r: r.size > 1 AND r.inreplyto = m.msgid)
    EXISTS (r: r.size > 1 AND m.size > r.size)
    """
    measure(condition)
    return distinct(_distribute(condition))


class Size(NamedTuple):
    """The size to which a condition multiplies out.

    ``largest`` counts the conjunctions of one disjunct, those of NOT EXISTS included;
    ``written`` the alternatives if no OR were kept; ``tests`` the comparisons of all
    disjuncts; ``variables`` those that one conjunction binds.
    """

    disjuncts: int = 1
    largest: int = 1
    written: int = 1
    tests: int = 1
    variables: int = 0


_TEST = Size()


def measure(condition: n.Condition) -> Size:
    """Return what a condition multiplies out to; raises TapestryError where it is too much.

    >>> from tapestry.rewrite.examples import condition
    >>> measure(condition("EXISTS (r: r.inreplyto = m.msgid OR r.size > m.size)")).disjuncts
    2
    """
    match condition:
        case n.And(args=args):
            size = _all([measure(arg) for arg in args])
        case n.Or(args=args):
            size = _any([measure(arg) for arg in args], is_one_predicate(condition))
        case n.Exists(bindings=bindings):
            size = _all([measure(condition.condition), Size(variables=len(bindings))])
        case n.Not(arg=n.Exists(bindings=bindings) as inner):
            return _nested([_all([measure(inner.condition), Size(variables=len(bindings))])], inner)
        case n.Threshold(aggregate=aggregate):
            return _nested([_aggregate_size(aggregate)], condition)
        case n.Top(aggregate=aggregate) | n.Not(arg=n.Top(aggregate=aggregate)):
            top = condition.arg if isinstance(condition, n.Not) else condition
            assert isinstance(top, n.Top)
            return _nested([_aggregate_size(aggregate), measure(top.condition)], condition)
        case _:
            return _TEST
    _refuse(size, condition)
    return size


def _aggregate_size(aggregate: n.Aggregate) -> Size:
    bound = Size(variables=len(aggregate.bindings))
    return _all([measure(aggregate.condition), bound])


def _nested(inside: list[Size], condition: n.Condition) -> Size:
    """Return the size of a test of other rows, whose own alternatives it multiplies by none."""
    for size in inside:
        _refuse(size, condition)
    return Size(
        largest=1 + sum(size.disjuncts * size.largest for size in inside),
        tests=sum(size.tests for size in inside),
    )


def _all(sizes: list[Size]) -> Size:
    if len(sizes) == 1:
        return sizes[0]
    disjuncts, largest, written, tests, variables = zip(*sizes, strict=True)
    total = prod(disjuncts)
    return Size(
        total,
        1 + sum(largest) - len(largest),
        prod(written),
        sum([count * total // own for count, own in zip(tests, disjuncts, strict=True)]),
        sum(variables),
    )


def _any(sizes: list[Size], kept: bool) -> Size:
    disjuncts, largest, written, tests, variables = zip(*sizes, strict=True)
    return Size(
        1 if kept else sum(disjuncts), max(largest), sum(written), sum(tests), max(variables)
    )


def _refuse(size: Size, condition: n.Condition) -> None:
    """Refuse what is too much, at the innermost place where it is."""
    if max(size) <= MOST_VARIABLES:  # the lowest limit
        return
    for number, most, what in (
        (size.disjuncts, MOST_DISJUNCTS, "alternatives"),
        (size.largest, MOST_DISJUNCTS, "alternatives"),
        (size.written, MOST_WRITTEN, "alternatives"),
        (size.variables, MOST_VARIABLES, "joined variables"),
        (size.tests, MOST_TESTS, "comparisons when it is multiplied out"),
    ):
        if number > most:
            raise TapestryError(
                f"This filter comes to {_shown(number)} {what}; at most {most} are allowed.",
                condition.span,
                "Install it as several filters, or replace ORs of equal comparisons by IN (…).",
            )


def is_one_predicate(condition: n.Or) -> bool:
    """Tell whether an OR is a boolean expression without subqueries about one variable.

    >>> from tapestry.rewrite.examples import condition
    >>> is_one_predicate(condition("m.size > 1 OR m.list = 'a'"))
    True
    """
    return is_plain(condition) and len(variables(condition)) <= 1


def _shown(number: int) -> str:
    return str(number) if number < 10**6 else "over a million"


def _distribute(condition: n.Condition) -> list[Conjunction]:
    match condition:
        case n.Truth(value=value):
            return [Conjunction()] if value else []
        case n.And(args=args):
            return [_merge(parts) for parts in product(*map(_distribute, args))]
        case n.Or(args=args):
            if is_one_predicate(condition):
                return [Conjunction(plain=(condition,))]
            return [part for arg in args for part in _distribute(arg)]
        case n.Exists(bindings=bindings):
            bound = Conjunction(bindings)
            return [_merge((bound, inner)) for inner in _distribute(condition.condition)]
        case n.Not(arg=n.Exists() as exists):
            return [Conjunction(not_exists=distinct(_distribute(exists)))]
        case n.Threshold(aggregate=aggregate, op=op, constant=constant):
            test = HavingTest(_aggregate(aggregate), op, constant)
            if test.aggregate.rows:
                return [Conjunction(having_tests=(test,))]
            return _distribute(n.Truth(test.passes_none(constant.value)))
        case n.Top() | n.Not(arg=n.Top()):
            top = _top_k_test(condition)
            if top.among and top.aggregate.rows:
                return [Conjunction(top_k_tests=(top,))]
            return _distribute(n.Truth(top.negated))
        case n.Compare() if is_temporal(condition):
            return [Conjunction(temporal_predicates=(condition,))]
    return [Conjunction(plain=(condition,))]


def _aggregate(aggregate: n.Aggregate) -> NormalAggregate:
    rows = distinct(_distribute(aggregate.condition))
    return NormalAggregate(
        aggregate.function,
        aggregate.distinct,
        aggregate.term,
        aggregate.bindings,
        rows,
        aggregate.among,
    )


def _top_k_test(condition: n.Top | n.Not) -> TopKTest:
    negated = isinstance(condition, n.Not)
    top = condition.arg if isinstance(condition, n.Not) else condition
    assert isinstance(top, n.Top)
    among = distinct(_distribute(top.condition))
    aggregate = _aggregate(top.aggregate)
    return TopKTest(top.message, top.limit, top.binding, aggregate, among, negated)


def _merge(parts: tuple[Conjunction, ...]) -> Conjunction:
    return Conjunction(*map(_together, *map(_FIELDS, parts))) if len(parts) > 1 else parts[0]


_FIELDS = attrgetter(*(field.name for field in fields(Conjunction)))


def _together(*tuples: tuple[Any, ...]) -> tuple[Any, ...]:
    filled = [items for items in tuples if items]
    return filled[0] if len(filled) == 1 else distinct(tuple(chain.from_iterable(filled)))
