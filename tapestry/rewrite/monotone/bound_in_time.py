"""Find the interval of time in which each binding of a conjunction holds."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import Conjunction, EventPoint, MonotoneDisjunct


def bound_in_time(
    index: int, message: n.Binding, conjunction: Conjunction
) -> MonotoneDisjunct | None:
    """Return the conjunction with its starts and ends, or None if it can never hold.

    Law: a binding satisfies ``plain`` and ``temporal_predicates`` at t just if it satisfies
    ``plain`` and max(starts) <= t < min(ends).  The ``ts`` of each row is a start
    [Terry92 §4.2]; time being discrete, ``c < t`` is ``c + 1 µs <= t``.

    >>> from tapestry.rewrite.examples import DELIVERED, conjunction, point
    >>> inside = conjunction("m.date < now() AND m.ts > now() - 1 week")
    >>> bounded = bound_in_time(0, DELIVERED, inside)
    >>> [point(start) for start in bounded.starts], [point(end) for end in bounded.ends]
    (['just after m.date', 'm.ts'], ['m.ts + 1 week'])
    >>> bound_in_time(0, DELIVERED, conjunction("m.ts > now()"))  # no row comes from the future
    """
    lower = starts(conjunction, message)
    upper = tuple(end(predicate) for predicate in upper_bounds(conjunction))
    if any(surely_before(last, first, equal=True) for last in upper for first in lower):
        return None
    return MonotoneDisjunct(index, conjunction, lower, upper)


def starts(conjunction: Conjunction, *more: n.Binding) -> tuple[EventPoint, ...]:
    """Return the event points from which a binding can hold, without those another implies.

    ``more`` are variables bound around the conjunction.

    >>> from tapestry.rewrite.examples import DELIVERED, conjunction, point
    >>> [point(start) for start in starts(conjunction("m.ts < now() - 1 day"), DELIVERED)]
    ['just after m.ts + 1 day']
    """
    visible = map(arrival, (*more, *conjunction.bindings))
    lower = [
        EventPoint(predicate.right, 1 if predicate.op == ">" else 0)
        for predicate in conjunction.temporal_predicates
        if predicate.op in (">", ">=")
    ]
    last: dict[object, EventPoint] = {}
    for point in dict.fromkeys([*lower, *visible]):
        anchor = point.anchor
        key = point if anchor is None else (anchor[0], point.waits)
        other = last.get(key)
        if other is None or surely_before(other, point, equal=True):
            last.pop(key, None)
            last[key] = point
    waiting = [point for point in last.values() if point.waits]
    return tuple(
        point
        for point in last.values()
        if point.waits or not any(surely_before(point, later, equal=True) for later in waiting)
    )


def arrival(binding: n.Binding) -> EventPoint:
    """Return the instant at which a row of a binding becomes visible.

    >>> arrival(n.Binding("r", "messages")).term.name
    'ts'
    """
    return EventPoint(n.Column(binding.var, "ts", Type.INSTANT))


def upper_bounds(conjunction: Conjunction) -> tuple[n.Compare, ...]:
    """Return the temporal predicates that turn false as time goes on.

    >>> from tapestry.rewrite.examples import conjunction
    >>> len(upper_bounds(conjunction("m.date < now() AND m.ts > now() - 1 week")))
    1
    """
    return tuple(
        predicate for predicate in conjunction.temporal_predicates if predicate.op in ("<", "<=")
    )


def end(predicate: n.Compare) -> EventPoint:
    """Return the first instant at which ``now() < e`` or ``now() <= e`` is false.

    >>> end(n.Compare("<=", n.Now(), n.Column("m", "date", Type.INSTANT))).shift
    1
    """
    return EventPoint(predicate.right, 1 if predicate.op == "<=" else 0)


def surely_before(left: EventPoint, right: EventPoint, equal: bool = False) -> bool:
    """Tell whether left < right (or <=) for every row, by their offsets from one column.

    A clock that stands reaches two instants at once, and none before it has come.

    >>> sent = n.Column("m", "date", Type.INSTANT)
    >>> surely_before(EventPoint(sent), EventPoint(sent, 1))
    True
    """
    before, after = left.anchor, right.anchor
    if before is None or after is None or before[0] != after[0]:
        return False
    if left.waits:
        return right.waits and equal and offset(right) >= offset(left)
    gap = offset(right) - offset(left)
    return gap > 0 or (equal and gap == 0)


def offset(point: EventPoint) -> int:
    """Return the microseconds between an anchored event point and its column.

    >>> offset(EventPoint(n.Column("m", "date", Type.INSTANT), 1))
    1
    """
    anchor = point.anchor
    if anchor is None:
        raise ValueError("this event point has no anchor")
    return anchor[1] + sum(sign * int(literal.value or 0) for sign, literal in anchor[2])
