"""The general rule: test the whole disjunct at every instant at which it can change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from tapestry.core.schema import Type
from tapestry.query.tree.nodes import Binding, Column, Condition
from tapestry.rewrite.stages import (
    Conjunction,
    Measured,
    Moment,
    MonotoneDisjunct,
    Ranked,
    Total,
    Variant,
)


@dataclass(frozen=True, slots=True)
class Event:
    """An instant, for each of the bindings that meet ``plain``, at which the answer can change."""

    moment: Moment
    bindings: tuple[Binding, ...]
    plain: tuple[Condition, ...]


def general(message: Binding, disjunct: MonotoneDisjunct) -> tuple[Variant, ...]:
    """Return a variant for every event of the disjunct, negation under negation included.

    Law (DESIGN, section 1): between two events the truth of the disjunct for a message is
    constant.  An event is the ``ts`` of a row that a variable can bind, those of aggregates
    included, or an instant at which a comparison with ``now()`` flips for such rows: a vote
    counts from its arrival, and no more when its week is over.  A row counts only beside rows
    of the enclosing variables that satisfy the enclosing ``plain``, all of them visible.

    What is among the top depends on all messages: there the test finds the message.
    """
    whole = disjunct.conjunction
    tops = [top for top in whole.ranked if not top.negated]
    rest = replace(whole, ranked=tuple(top for top in whole.ranked if top.negated))
    unbound = replace(whole, bindings=(message, *whole.bindings))
    events = _once(_events((), (message,), (), rest))
    ranks = _once(chain.from_iterable(_ranked((), (), top) for top in tops))
    return (
        *[_variant(event, whole) for event in events],
        *[_variant(event, unbound) for event in ranks],
    )


def _once(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events, each where it stands first: far quicker than to compare variants."""
    return tuple(dict.fromkeys(events))


def _variant(event: Event, test: Conjunction) -> Variant:
    before = (_arrival(binding) for binding in event.bindings)
    return Variant(
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
    moments += [Moment(t.right, 1 if t.op in ("<=", ">") else 0) for t in part.times]
    for moment in dict.fromkeys(moments):
        yield Event(moment, bindings, plain)
    for inner in part.nested:
        match inner:
            case Conjunction():
                yield from _events(bindings, (), plain, inner)
            case Measured(total=total):
                yield from _counted(bindings, (), plain, total)
            case Ranked():
                yield from _ranked(bindings, plain, inner)


def _counted(
    around: tuple[Binding, ...],
    fresh: tuple[Binding, ...],
    plain: tuple[Condition, ...],
    total: Total,
) -> Iterator[Event]:
    for row in total.rows:
        yield from _events(around, (*fresh, *total.bindings), plain, row)


def _ranked(
    around: tuple[Binding, ...], plain: tuple[Condition, ...], top: Ranked
) -> Iterator[Event]:
    for row in top.among:
        yield from _events(around, (top.binding,), plain, row)
    yield from _counted(around, (top.binding,), plain, top.total)


def _arrival(binding: Binding) -> Moment:
    return Moment(Column(binding.var, "ts", Type.INSTANT))
