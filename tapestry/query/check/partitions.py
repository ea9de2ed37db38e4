"""The rows that a window function is of: partition, order, and the frame of a message."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapestry.core.errors import TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.copies import Copier
from tapestry.query.check.terms import NUMERIC, a, constant
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import SHIFTS, VALUES

_NEVER_NULL = ("msgid", "ts", "received")
_BACK = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Partition:
    """The rows that a window function is of: ``row`` ranges over them, ``message`` is its own.

    ``per``, ``order``, ``term`` and ``condition``, checked, are of ``row``.
    """

    node: n.Over
    message: n.Binding
    row: n.Binding
    per: tuple[n.Column, ...]
    order: n.Column | None
    term: n.Term | None
    condition: n.Condition
    copier: Copier

    def check(self) -> None:
        """Raise TapestryError where a column is a set, or a distance is of another type."""
        columns = [*self.per, *([self.order] if self.order else [])]
        for column in columns:
            if column.type is Type.SET:
                hint = "Write m.sender, or another column with one value."
                raise TapestryError("A window cannot go by a set.", column.span, hint)
        frame, order = self.node.frame, self.order
        if order is None or frame is None or frame.rows:
            return
        for bound in (frame.low, frame.high):
            if bound is None or bound.value == 0:
                continue
            kinds = {Type.INSTANT: (Type.DURATION,), Type.INTEGER: NUMERIC, Type.NUMBER: NUMERIC}
            if bound.type not in kinds.get(order.type, ()):
                message = f"{a(order.type).capitalize()} has no such distance from another."
                hint = "Write RANGE 7 days PRECEDING for instants, ROWS 10 PRECEDING for all."
                raise TapestryError(message, bound.span, hint)

    def present(self) -> list[n.Condition]:
        """Return that the message itself is among the rows.

        That it has values to go by is left out where it follows from what they are compared with.
        """
        here = self.copier.test(self.condition, {self.row.var: self.message.var})
        parts = [] if here == n.Truth(True) else [here]
        columns = [] if self.node.name in VALUES else list(self.per)
        if self.order and self.node.name not in SHIFTS:
            columns.append(self.order)
        for column in columns:
            if column.name not in _NEVER_NULL:
                parts.append(n.Not(n.IsNull(replace(column, var=self.message.var))))
        return parts

    def among(self, row: n.Binding) -> list[n.Condition]:
        """Return that a row is of the message's partition."""
        own = self.copier.test(self.condition, {self.row.var: row.var})
        tests = [] if own == n.Truth(True) else [own]
        for column in self.per:
            mine = replace(column, var=row.var)
            tests.append(n.Compare("=", mine, replace(column, var=self.message.var)))
        return tests

    def ordered(self, row: n.Binding) -> list[n.Condition]:
        """Return that a row of the message's partition has a place there."""
        key = self._key(row)
        placed = [] if key.name in _NEVER_NULL else [n.Not(n.IsNull(key))]
        return [*self.among(row), *placed]

    def another(self) -> n.Binding:
        return self.copier.another(self.row)

    def _key(self, row: n.Binding) -> n.Column:
        assert self.order is not None
        return replace(self.order, var=row.var)

    def earlier(self, one: n.Binding, other: n.Binding, peers: bool = False) -> n.Condition:
        """Return that a row comes before another, and is none of its peers, or may be one."""
        op = (">" if self.node.descending else "<") + ("=" if peers else "")
        return n.Compare(op, self._key(one), self._key(other))

    def before(self, one: n.Binding, other: n.Binding, tie: str = "<") -> n.Condition:
        """Return that a row has a place before another; with ``<=``, or the same."""
        same = n.Compare("=", self._key(one), self._key(other))
        return n.Or((self.earlier(one, other), n.And((same, by_msgid(tie, one, other)))))

    def framed(self, row: n.Binding) -> list[n.Condition]:
        """Return that a row of the partition is in the frame of the message."""
        if self.order is None:
            return []
        frame = self.frame
        if frame.rows:
            return self._within_rows(frame, row)
        bounds = ((frame.low, ">="), (frame.high, "<="))
        return [self._within(bound, op, row) for bound, op in bounds if bound]

    @property
    def frame(self) -> n.Frame:
        """Return the frame; as in SQL, without one it ends with the peers of the message."""
        return self.node.frame or n.Frame(False, None, n.Literal(0, Type.INTEGER))

    def reaches(self, last: bool) -> bool:
        """Return whether the frame has the first row of the partition, or the last."""
        return (self.frame.high if last else self.frame.low) is None

    def holds_own(self) -> bool:
        """Return whether the frame has the message itself."""
        low, high = _amount(self.frame.low), _amount(self.frame.high)
        return (low is None or low <= 0) and (high is None or high >= 0)

    def _within(self, bound: n.Literal, op: str, row: n.Binding) -> n.Condition:
        value = bound.value
        assert isinstance(value, int | float)
        if self.node.descending:
            op, value = _BACK[op], -value
        end: n.Term = self._key(self.message)
        if value:
            kind = Type.INSTANT if bound.type is Type.DURATION else bound.type
            if kind is Type.INTEGER and self._key(row).type is Type.NUMBER:
                kind = Type.NUMBER
            distance = constant(abs(value), bound.type, bound.span)
            end = n.Arith("+" if value > 0 else "-", end, distance, kind)
        return n.Compare(op, self._key(row), end)

    def _within_rows(self, frame: n.Frame, row: n.Binding) -> list[n.Condition]:
        low = _whole(frame.low)
        high = _whole(frame.high)
        if high is not None and high <= 0:
            return self._side(row, True, -high, None if low is None else -low)
        if low is not None and low >= 0:
            return self._side(row, False, low, high)
        if low is None and high is None:
            return []
        left = n.And.of(self._side(row, True, 0, None if low is None else -low))
        return [n.Or((left, n.And.of(self._side(row, False, 1, high))))]

    def _side(
        self, row: n.Binding, before: bool, least: int, most: int | None
    ) -> list[n.Condition]:
        """Return that from the message to a row on one side are so many messages."""
        tie = "<" if least else "<="
        ends = (row, self.message) if before else (self.message, row)
        tests = [self.before(*ends, tie)]
        for op, count in ((">=", least if least > 1 else None), ("<=", most)):
            if count is None:
                continue
            other = self.another()
            if before:
                between = [self.before(row, other), self.before(other, self.message, "<=")]
            else:
                between = [self.before(self.message, other, "<="), self.before(other, row)]
            tests.append(counted(op, count, other, [*self.among(other), *between]))
        return tests


def counted(op: str, count: int, row: n.Binding, tests: list[n.Condition]) -> n.Condition:
    """Return that the number of messages that pass tests compares so with a count."""
    inside = n.And.of(tests)
    number = n.Aggregate("COUNT", True, msgid_of(row), (row,), inside, Type.INTEGER)
    return n.Threshold(number, op, n.Literal(count, Type.INTEGER))


def _whole(bound: n.Literal | None) -> int | None:
    return bound.value if bound and isinstance(bound.value, int) else None


def _amount(bound: n.Literal | None) -> int | float | None:
    return bound.value if bound and isinstance(bound.value, int | float) else None


def by_msgid(op: str, one: n.Binding, other: n.Binding) -> n.Condition:
    """Return how the Message-IDs of two rows compare, which decides among peers."""
    return n.Compare(op, msgid_of(one), msgid_of(other))


def msgid_of(row: n.Binding) -> n.Column:
    return n.Column(row.var, "msgid", Type.TEXT)
