"""Write window functions [OracleCQ07] out: the row that a value is of, or a count of rows before.

LAG(m.sender) OVER (PARTITION BY m.list ORDER BY m.received) = 'joe@x.org'
EXISTS (x: x.list = m.list AND x is before m AND x.sender = 'joe@x.org'
        AND NOT EXISTS (y: y.list = m.list AND y is before m AND x is before y))

RANK() OVER (PARTITION BY m.list ORDER BY m.received) <= 3
m.list IS NOT NULL AND COUNT(DISTINCT x.msgid: x.list = m.list AND x.received < m.received) <= 2

CUME_DIST() OVER (PARTITION BY m.list ORDER BY m.received) <= 0.1
m.list IS NOT NULL AND
SHARE(DISTINCT x.msgid AMONG x.list = m.list: x.received <= m.received) <= 0.1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.comparisons import threshold
from tapestry.query.check.copies import Copier, renamed_in
from tapestry.query.check.predicates import checked_test
from tapestry.query.check.scope import Scope
from tapestry.query.check.terms import NUMERIC, a, aggregate_type, constant, typed
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RANKS, RELATIVE_RANKS, SHIFTS, VALUES
from tapestry.query.tree.walk import FLIPPED, change_children, children, columns_of, holds_of_zero

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
        return n.Or((self.earlier(one, other), n.And((same, _tie(tie, one, other)))))

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
            tests.append(_counted(op, count, other, [*self.among(other), *between]))
        return tests


def functions_in(test: n.Test | n.Term) -> list[n.Over]:
    """Return the window functions of a test or a term, none that stands in another."""
    found: list[n.Over] = []
    waiting: list[n.Node] = [test]
    while waiting:
        part = waiting.pop()
        if isinstance(part, n.Over):
            found.append(part)
        elif isinstance(part, n.Test | n.Term):
            waiting += list(children(part))[::-1]
    return found


def of_rows(
    test: n.Test,
    partitions: Sequence[Partition],
    scope: Scope,
    *,
    negated: bool,
) -> n.Condition:
    """Return that a test holds of the rows whose values window functions give.

    ``negated``: return the NOT of that it does not hold.  Raises TapestryError where a test is
    refused, or is of what also counts.
    """
    for partition in partitions:
        partition.check()
        if partition.node.name not in VALUES:
            raise _counted_alone(partition.node)
    names = [f" {place}" for place in range(len(partitions))]
    called = {id(one.node): name for one, name in zip(partitions, names, strict=True)}

    def change(node: Any) -> Any:
        if isinstance(node, n.Over):
            assert node.term is not None
            own = {column.var for column in columns_of(node.term)}
            return renamed_in(node.term, dict.fromkeys(own, called[id(node)]))
        if isinstance(node, n.Call) and node.name == "coalesce" and functions_in(node):
            hint = "Write LAG(…) OVER (…) = 'x' OR LAG(…) OVER (…) IS NULL."
            raise TapestryError("coalesce() cannot take a window function.", node.span, hint)
        return change_children(node, change) if isinstance(node, n.Node) else node

    variables = {name: one.row for name, one in zip(names, partitions, strict=True)}
    found = checked_test(change(test), Scope(variables, scope))
    missing = isinstance(test, n.IsNull)
    if negated or missing:
        found = found.arg if isinstance(found, n.Not) else n.Not(found, span=test.span)
    parts = [part for one in partitions for part in one.present()]
    tied = [*[part for one in partitions for part in row_of_value(one)], found]
    if missing:  # a message that does not meet the condition, or may not, has no value
        parts, tied = [], [*parts, *tied]
    rows = n.Exists(tuple([one.row for one in partitions]), n.And.of(tied), span=test.span)
    made = n.And.of([*parts, rows])
    return n.Not(made, span=test.span) if negated or missing else made


def of_number(
    test: n.Test, partitions: Sequence[Partition], scope: Scope, *, negated: bool
) -> n.Condition:
    """Return that what a window function counts or adds up compares so with constants.

    ``negated``: as above.  Raises TapestryError where it is compared with anything else.
    """
    partition, node = partitions[0], partitions[0].node
    partition.check()
    if len(partitions) > 1:
        raise _counted_alone(node)
    tests = _tests(test, node, scope)
    compared = aggregated(partition, tests)
    joined = n.And.of if isinstance(test, n.Between) else n.Or.of
    found = joined(compared, test.span)
    if negated:
        found = n.Not(found, span=test.span)
    made = n.And.of([*partition.present(), found])
    return n.Not(made, span=test.span) if negated else made


def _tests(test: n.Test, node: n.Over, scope: Scope) -> list[tuple[str, n.Literal]]:
    match test:
        case n.Compare("IN", left, n.Call(args=items)) if left is node:
            sides = [("=", item) for item in items]
        case n.InList(term, values) if term is node:
            sides = [("=", n.Literal(value, values.type)) for value in values.values]
        case n.Compare(op, left, right) if left is node:
            sides = [(op, right)]
        case n.Compare(op, left, right) if right is node:
            sides = [(FLIPPED[op], left)]
        case n.Between(term, low, high) if term is node:
            sides = [(">=", low), ("<=", high)]
        case _:
            raise _counted_alone(node)
    found = []
    for op, side in sides:
        literal = None if functions_in(side) else typed(side, scope)
        if not isinstance(literal, n.Literal) or literal.value is None:
            raise _counted_alone(node)
        found.append((op, literal))
    return found


def _counted_alone(node: n.Over) -> TapestryError:
    return TapestryError(
        f"{node.name} OVER can only be compared with a constant.",
        node.span,
        f"Write such as {node.name}(…) OVER (…) <= 3.",
    )


def aggregated(partition: Partition, tests: Sequence[tuple[str, n.Literal]]) -> list[n.Condition]:
    """Return what a window function that counts or adds up is, for each comparison of it.

    Raises TapestryError where the types do not compare.
    """
    node, row, message = partition.node, partition.row, partition.message
    found: list[n.Condition] = []
    for op, literal in tests:
        of = row if not found else partition.another()
        if node.name in RELATIVE_RANKS:
            found.append(_relative(partition, of, op, literal))
            continue
        renamed = {row.var: of.var}
        tests_of = partition.among(of)
        term = partition.term and renamed_in(partition.term, renamed)
        function, distinct = node.name, node.distinct
        if node.name in RANKS:
            function, distinct, term = "COUNT", True, _msgid(of)
            if node.name == "ROW_NUMBER":
                tests_of.append(partition.before(of, message))
            else:
                tests_of.append(partition.earlier(of, message))
            if node.name == "DENSE_RANK":
                assert partition.order is not None
                term = replace(partition.order, var=of.var)
        else:
            tests_of += partition.framed(of)
        kind = aggregate_type(function, term)
        made = n.Aggregate(
            function, distinct, term, (of,), n.And.of(tests_of), kind, span=node.span
        )
        threshold(replace(made, function=node.name), op, literal, node.span)
        if node.name in RANKS:
            op, literal = _less_one(op, literal)
        found.append(threshold(made, op, literal, node.span))
    return found


def _relative(partition: Partition, row: n.Binding, op: str, literal: n.Literal) -> n.Condition:
    """Return what the place of the message is, set against the number of all of its partition.

    A message alone has the PERCENT_RANK 0.
    """
    node, message = partition.node, partition.message
    others = [n.Compare("<>", _msgid(row), _msgid(message))]
    function, rows = "SHARE", partition.ordered(row)
    if node.name == "NTILE":
        function, tests = "NTILE", [*others, partition.before(row, message)]
    elif node.name == "CUME_DIST":
        tests = [partition.earlier(row, message, peers=True)]
    else:
        rows, tests = [*rows, *others], [partition.earlier(row, message)]
    made = n.Aggregate(
        function, True, _msgid(row), (row,), n.And.of(rows), aggregate_type(function, None),
        n.Among(None, n.And.of(tests), node.count), span=node.span,
    )  # fmt: skip
    threshold(replace(made, function=node.name), op, literal, node.span)
    compared = threshold(made, op, literal, node.span)
    assert isinstance(literal.value, int | float)
    if node.name != "PERCENT_RANK" or not holds_of_zero(op, literal.value):
        return compared
    other = partition.another()
    alone = [*partition.ordered(other), n.Compare("<>", _msgid(other), _msgid(message))]
    return n.Or((compared, n.Not(n.Exists((other,), n.And.of(alone), span=node.span))))


def row_of_value(partition: Partition) -> list[n.Condition]:
    """Return that ``partition.row`` is the row whose value the function gives."""
    node, row, message = partition.node, partition.row, partition.message
    other = partition.another()
    tests = partition.among(row)
    if node.name in SHIFTS:
        ends = (row, message) if node.name == "LAG" else (message, row)
        tests.append(partition.before(*ends))
        between = [partition.before(ends[0], other), partition.before(other, ends[1])]
    else:
        last = node.name == "LAST_VALUE"
        between = [partition.before(*((row, other) if last else (other, row)))]
        if not partition.reaches(last):
            between += partition.framed(other)
        if node.name == "NTH_VALUE" or not (partition.reaches(last) and partition.holds_own()):
            tests += partition.framed(row)
    inside = [*partition.among(other), *between]
    count = node.count.value if node.count else 1
    if count == 1:
        nothing = n.Exists((other,), n.And.of(inside), span=node.span)
        return [*tests, n.Not(nothing, span=node.span)]
    assert isinstance(count, int)
    return [*tests, _counted("=", count - 1, other, inside)]


def _less_one(op: str, literal: n.Literal) -> tuple[str, n.Literal]:
    """Return the comparison of the number of rows before: one less than a rank."""
    value = literal.value
    assert isinstance(value, int | float)
    if value == 1 and op in ("=", "<="):
        return "<", n.Literal(1, Type.INTEGER, span=literal.span)
    return op, constant(value - 1, literal.type, literal.span)


def _counted(op: str, count: int, row: n.Binding, tests: list[n.Condition]) -> n.Condition:
    inside = n.And.of(tests)
    number = n.Aggregate("COUNT", True, _msgid(row), (row,), inside, Type.INTEGER)
    return n.Threshold(number, op, n.Literal(count, Type.INTEGER))


def _whole(bound: n.Literal | None) -> int | None:
    return bound.value if bound and isinstance(bound.value, int) else None


def _amount(bound: n.Literal | None) -> int | float | None:
    return bound.value if bound and isinstance(bound.value, int | float) else None


def _tie(op: str, one: n.Binding, other: n.Binding) -> n.Condition:
    return n.Compare(op, _msgid(one), _msgid(other))


def _msgid(row: n.Binding) -> n.Column:
    return n.Column(row.var, "msgid", Type.TEXT)
