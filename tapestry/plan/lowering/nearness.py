"""Bounds, by what a join says, of how far in time the rows of a lookup are from those that ask.

    r.sender = m.sender AND r.received >= m.received - 1 week AND r.received <= m.received

Of all mail of a sender, only that of a week is then read.  Law: the statement holds the comparisons
themselves, so it answers the same whether an engine leaves the others out or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from tapestry.core.clock import NEVER
from tapestry.core.schema import BOUNDED
from tapestry.plan.group import ConstantRow
from tapestry.plan.relation import Near
from tapestry.plan.signature import integer_value, values_by_slot
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import FLIPPED, conjuncts, variables
from tapestry.rewrite.stages import EventPoint

Distance = tuple[int, int]
"""The least and the greatest number of microseconds from one instant to another."""

ANY: Distance = (-NEVER, NEVER)


def near(
    plain: Sequence[n.Condition],
    here: n.Binding,
    there: n.Binding,
    constant_rows: Sequence[ConstantRow],
) -> Near | None:
    """Return from when on rows of ``here`` matter to a row of ``there``; None if from ever."""
    found = []
    for by, other in product(BOUNDED[here.table], BOUNDED[there.table]):
        distances = _Distances((here.var, by), (there.var, other), constant_rows)
        low, high = distances.of(n.And(tuple(plain)))
        if low != -NEVER:
            found.append(Near(by, other, low, high))
    return min(found, key=lambda bound: bound.high - bound.low, default=None)


def before(
    tests: Sequence[n.Condition], here: n.Binding, there: n.Binding, tie: n.Column
) -> tuple[str, ...]:
    """Return the columns in which rows of ``here`` are earlier than a row of ``there``.

    Empty if anything else is asked of them, beside that the column ``tie`` equals one of ``there``.
    """
    of_both = {*BOUNDED[here.table]} & {*BOUNDED[there.table]}
    columns: list[str] = []
    ties = 0
    for test in (test for condition in tests for test in conjuncts(condition)):
        if here.var not in variables(test):
            continue
        match test:
            case n.Compare(op, n.Column() as left, n.Column() as right):
                if left.var != here.var:
                    op, left, right = FLIPPED[op], right, left
            case _:
                return ()
        if right.var != there.var:
            return ()
        if op == "=" and left == tie:
            ties += 1
        elif op in ("<", "<=") and left.name == right.name and left.name in of_both:
            columns.append(left.name)
        else:
            return ()
    return tuple(columns) if ties == 1 else ()


class _Distances:
    """Bounds of the distance of one column from another, for all constant rows of a group."""

    def __init__(
        self, here: tuple[str, str], there: tuple[str, str], constant_rows: Sequence[ConstantRow]
    ) -> None:
        self.here = here
        self.there = there
        self.constant_rows = constant_rows

    def of(self, test: n.Condition) -> Distance:
        """Return between which distances a condition can hold."""
        match test:
            case n.And(args=args):
                bounds = [ANY, *map(self.of, args)]
                return max(low for low, _ in bounds), min(high for _, high in bounds)
            case n.Or(args=args):
                bounds = list(map(self.of, args))
                return min(low for low, _ in bounds), max(high for _, high in bounds)
            case n.Compare(op=op, left=left, right=right):
                return self._compared(op, left, right)
        return ANY

    def _compared(self, op: str, left: n.Term, right: n.Term) -> Distance:
        one, other = EventPoint(left).anchor, EventPoint(right).anchor
        if one is None or other is None:
            return ANY
        columns = [(column.var, column.name) for column, *_ in (one, other)]
        if columns == [self.there, self.here]:
            op, one, other = FLIPPED[op], other, one
        elif columns != [self.here, self.there]:
            return ANY
        # here + one op there + other
        lengths = [*other[2], *((-sign, length) for sign, length in one[2])]
        offsets = [other[1] - one[1] + offset for offset in self._offsets(lengths)]
        low = min(offsets) if op in ("=", ">", ">=") else -NEVER
        return low, max(offsets) if op in ("=", "<", "<=") else NEVER

    def _offsets(self, lengths: Sequence[tuple[int, n.Literal]]) -> Iterator[int]:
        """Yield the sum of durations for each constant row."""
        for row in self.constant_rows if lengths else ():
            values = values_by_slot(row.constants)
            yield sum(sign * integer_value(length, values) for sign, length in lengths)
        if not lengths:
            yield 0
