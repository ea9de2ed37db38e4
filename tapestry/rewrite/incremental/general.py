"""The general rule: test the disjunct at every event point, where its truth can change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from tapestry.query.tree import nodes as n
from tapestry.rewrite.monotone.bound_in_time import arrival
from tapestry.rewrite.stages import (
    Conjunction,
    DeltaQuery,
    EventPoint,
    HavingTest,
    MonotoneDisjunct,
    NormalAggregate,
    TopKTest,
)


@dataclass(frozen=True, slots=True)
class Event:
    """An event point of each of the bindings that meet ``plain``."""

    point: EventPoint
    bindings: tuple[n.Binding, ...]
    plain: tuple[n.Condition, ...]


def general(message: n.Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...]:
    """Return a delta query for every event of the disjunct, negation under negation included.

    Law (DESIGN.md, "The instants at which an answer can change"): between two events the
    truth of the disjunct for a message is constant.  An event is the ``ts`` of a row that a
    variable can bind, in an aggregate too, or an instant at which a comparison with ``now()``
    flips for such rows: a vote counts from its arrival until its week is over.  A row counts
    only beside visible rows of the enclosing variables that satisfy the enclosing ``plain``.

    A top-k depends on all messages: there the test finds the message.

    >>> from tapestry.rewrite.examples import show_fast
    >>> show_fast(general, "NOT EXISTS (r: r.inreplyto = m.msgid)")
    C is m.ts: NOT EXISTS (r: r.inreplyto = m.msgid AND r.ts <= C)
    C is r.ts: r.inreplyto = m.msgid AND m.ts <= C AND NOT EXISTS (r: r.inreplyto = m.msgid \
AND r.ts <= C)
    """
    conjunction = disjunct.conjunction
    tops = [top for top in conjunction.top_k_tests if not top.negated]
    rest = replace(
        conjunction, top_k_tests=tuple(top for top in conjunction.top_k_tests if top.negated)
    )
    unbound = replace(conjunction, bindings=(message, *conjunction.bindings))
    # To compare events is far quicker than to compare delta queries.
    events = dict.fromkeys(_events((), (message,), (), rest))
    ranks = dict.fromkeys(chain.from_iterable(_ranked((), (), top) for top in tops))
    return (
        *[_delta_query(event, conjunction) for event in events],
        *[_delta_query(event, unbound) for event in ranks],
    )


def _delta_query(event: Event, test: Conjunction) -> DeltaQuery:
    before = tuple(point for point in map(arrival, event.bindings) if point != event.point)
    return DeltaQuery(
        "general", event.point, event.bindings, event.plain, before, test, test.bindings
    )


def _events(
    around: tuple[n.Binding, ...],
    fresh: tuple[n.Binding, ...],
    plain: tuple[n.Condition, ...],
    part: Conjunction,
) -> Iterator[Event]:
    fresh = (*fresh, *part.bindings)
    bindings, plain = (*around, *fresh), (*plain, *part.plain)
    points = [
        *map(arrival, fresh),
        *[
            EventPoint(predicate.right, 1 if predicate.op in ("<=", ">") else 0)
            for predicate in part.temporal_predicates
        ],
    ]
    for point in dict.fromkeys(points):
        yield Event(point, bindings, plain)
    for inner in part.nested:
        match inner:
            case Conjunction():
                yield from _events(bindings, (), plain, inner)
            case HavingTest(aggregate=aggregate):
                yield from _of_aggregate(bindings, (), plain, aggregate)
            case TopKTest():
                yield from _ranked(bindings, plain, inner)


def _of_aggregate(
    around: tuple[n.Binding, ...],
    fresh: tuple[n.Binding, ...],
    plain: tuple[n.Condition, ...],
    aggregate: NormalAggregate,
) -> Iterator[Event]:
    for row in aggregate.rows:
        yield from _events(around, (*fresh, *aggregate.bindings), plain, row)


def _ranked(
    around: tuple[n.Binding, ...], plain: tuple[n.Condition, ...], top: TopKTest
) -> Iterator[Event]:
    for row in top.among:
        yield from _events(around, (top.binding,), plain, row)
    yield from _of_aggregate(around, (top.binding,), plain, top.aggregate)
