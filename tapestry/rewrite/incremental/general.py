"""The general rule: test the whole disjunct at every instant at which it can change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from tapestry.core.schema import Type
from tapestry.query.tree.nodes import Binding, Column, Condition
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
    """An instant, for each of the bindings that meet ``plain``, at which the answer can change."""

    moment: EventPoint
    bindings: tuple[Binding, ...]
    plain: tuple[Condition, ...]


def general(message: Binding, disjunct: MonotoneDisjunct) -> tuple[DeltaQuery, ...]:
    """Return a delta query for every event of the disjunct, negation under negation included.

    Law (DESIGN, section 1): between two events the truth of the disjunct for a message is
    constant.  An event is the ``ts`` of a row that a variable can bind, those of aggregates
    included, or an instant at which a comparison with ``now()`` flips for such rows: a vote
    counts from its arrival, and no more when its week is over.  A row counts only beside rows
    of the enclosing variables that satisfy the enclosing ``plain``, all of them visible.

    What is among the top depends on all messages: there the test finds the message.
    """
    whole = disjunct.conjunction
    tops = [top for top in whole.top_k_tests if not top.negated]
    rest = replace(whole, top_k_tests=tuple(top for top in whole.top_k_tests if top.negated))
    unbound = replace(whole, bindings=(message, *whole.bindings))
    events = _once(_events((), (message,), (), rest))
    ranks = _once(chain.from_iterable(_ranked((), (), top) for top in tops))
    return (
        *[_delta_query(event, whole) for event in events],
        *[_delta_query(event, unbound) for event in ranks],
    )


def _once(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events, each where it stands first: far quicker than to compare delta queries."""
    return tuple(dict.fromkeys(events))


def _delta_query(event: Event, test: Conjunction) -> DeltaQuery:
    before = (_arrival(binding) for binding in event.bindings)
    return DeltaQuery(
        "general",
        event.moment,
        event.bindings,
        event.plain,
        tuple(moment for moment in before if moment != event.moment),
        test,
        test.bindings,
    )


def _events(
    around: tuple[Binding, ...],
    fresh: tuple[Binding, ...],
    plain: tuple[Condition, ...],
    part: Conjunction,
) -> Iterator[Event]:
    fresh = (*fresh, *part.bindings)
    bindings, plain = (*around, *fresh), (*plain, *part.plain)
    moments = [_arrival(binding) for binding in fresh]
    moments += [
        EventPoint(t.right, 1 if t.op in ("<=", ">") else 0) for t in part.temporal_predicates
    ]
    for moment in dict.fromkeys(moments):
        yield Event(moment, bindings, plain)
    for inner in part.nested:
        match inner:
            case Conjunction():
                yield from _events(bindings, (), plain, inner)
            case HavingTest(aggregate=total):
                yield from _counted(bindings, (), plain, total)
            case TopKTest():
                yield from _ranked(bindings, plain, inner)


def _counted(
    around: tuple[Binding, ...],
    fresh: tuple[Binding, ...],
    plain: tuple[Condition, ...],
    total: NormalAggregate,
) -> Iterator[Event]:
    for row in total.rows:
        yield from _events(around, (*fresh, *total.bindings), plain, row)


def _ranked(
    around: tuple[Binding, ...], plain: tuple[Condition, ...], top: TopKTest
) -> Iterator[Event]:
    for row in top.among:
        yield from _events(around, (top.binding,), plain, row)
    yield from _counted(around, (top.binding,), plain, top.aggregate)


def _arrival(binding: Binding) -> EventPoint:
    return EventPoint(Column(binding.var, "ts", Type.INSTANT))
