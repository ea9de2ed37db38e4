"""Find from when to when each binding of a conjunction holds."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.tree.nodes import Binding, Column, Compare
from tapestry.rewrite.stages import Conjunction, EventPoint, MonotoneDisjunct


def bound_in_time(index: int, message: Binding, whole: Conjunction) -> MonotoneDisjunct | None:
    """Return the conjunction with its starts and ends, or None if it can never hold.

    Law: a binding satisfies ``plain`` and ``times`` at t just if it satisfies ``plain`` and
    max(starts) <= t < min(ends).  As in section 4.2 of the paper, the ``ts`` of each row is
    a start; time being discrete, ``c < t`` is ``c + 1 µs <= t``.
    """
    first = starts(whole, message)
    last = tuple(end(time) for time in whole.temporal_predicates if time.op in ("<", "<="))
    if any(surely_before(e, s, equal=True) for e in last for s in first):
        return None
    return MonotoneDisjunct(index, whole, first, last)


def starts(whole: Conjunction, *more: Binding) -> tuple[EventPoint, ...]:
    """Return the moments from which a binding can hold, without those another implies."""
    visible = [EventPoint(Column(b.var, "ts", Type.INSTANT)) for b in (*more, *whole.bindings)]
    lower = [
        EventPoint(t.right, 1 if t.op == ">" else 0)
        for t in whole.temporal_predicates
        if t.op in (">", ">=")
    ]
    last: dict[object, EventPoint] = {}
    for moment in dict.fromkeys([*lower, *visible]):
        anchor = moment.anchor
        key = moment if anchor is None else anchor[0]
        other = last.get(key)
        if other is None or surely_before(other, moment, equal=True):
            last.pop(key, None)
            last[key] = moment
    return tuple(last.values())


def end(time: Compare) -> EventPoint:
    """Return the first instant at which ``now() < e`` or ``now() <= e`` is false."""
    return EventPoint(time.right, 1 if time.op == "<=" else 0)


def surely_before(left: EventPoint, right: EventPoint, equal: bool = False) -> bool:
    """Tell whether left < right (or <=) for every row, by their offsets from one column."""
    one, two = left.anchor, right.anchor
    if one is None or two is None or one[0] != two[0]:
        return False
    gap = offset(right) - offset(left)
    return gap > 0 or (equal and gap == 0)


def offset(moment: EventPoint) -> int:
    """Return the microseconds between an anchored moment and its column."""
    anchor = moment.anchor
    if anchor is None:
        raise ValueError("this moment has no anchor")
    return anchor[1] + sum(sign * int(literal.value or 0) for sign, literal in anchor[2])
