"""Find from when to when each binding of a conjunction holds."""

from __future__ import annotations

from tapestry.core.schema import Type
from tapestry.query.tree.nodes import Binding, Column, Compare
from tapestry.rewrite.stages import Conjunction, EventPoint, HavingTest, MonotoneDisjunct


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
    steady = all(turns_on_once(part) for part in whole.not_exists)
    steady = steady and not whole.having_tests and not whole.top_k_tests
    return MonotoneDisjunct(index, whole, first, last, steady, _reason(whole, bool(last), steady))


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


def turns_on_once(part: Conjunction) -> bool:
    """Tell whether EXISTS of the conjunction, once true, stays true as time goes on."""
    return not part.nested and all(time.op in (">", ">=") for time in part.temporal_predicates)


def only_grows(measured: HavingTest) -> bool:
    """Tell whether the comparison, once true, stays true: its rows stay, and can only add."""
    rising = measured.op in (">", ">=") and measured.aggregate.function in ("COUNT", "MAX")
    falling = measured.op in ("<", "<=") and measured.aggregate.function == "MIN"
    return (rising or falling) and all(turns_on_once(row) for row in measured.aggregate.rows)


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


def _reason(whole: Conjunction, ends: bool, steady: bool) -> str:
    if whole.top_k_tests:
        return "evaluated at events: what is on top changes with every row that counts"
    if not all(map(only_grows, whole.having_tests)):
        return "evaluated at events: the aggregate can rise and fall"
    if whole.having_tests and (whole.not_exists or ends):
        return "evaluated at events: an aggregate beside what ceases to hold"
    if whole.having_tests:
        return "monotone: the aggregate is crossed once and for all"
    if not steady:
        return "evaluated at events: what must not exist can cease to exist again"
    if whole.not_exists:
        return "made monotone: what must not exist can appear; tested at the earliest instant"
    if ends:
        return "made monotone: it ceases to hold as time goes on; tested at the earliest instant"
    return "monotone: what it matches once it matches for ever"
