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
from dataclasses import replace
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.comparisons import threshold
from tapestry.query.check.copies import renamed_in
from tapestry.query.check.partitions import Partition, by_msgid, counted, msgid_of
from tapestry.query.check.predicates import checked_test
from tapestry.query.check.scope import Scope
from tapestry.query.check.terms import aggregate_type, constant, typed
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import RANKS, RELATIVE_RANKS, SHIFTS, VALUES
from tapestry.query.tree.walk import FLIPPED, change_children, children, columns_of, holds_of_zero


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
    compared = aggregated(partition, tests, negated=negated)
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


def aggregated(
    partition: Partition, tests: Sequence[tuple[str, n.Literal]], *, negated: bool
) -> list[n.Condition]:
    """Return what a window function that counts or adds up is, for each comparison of it.

    Raises TapestryError where the types do not compare.
    """
    node, row, message = partition.node, partition.row, partition.message
    found: list[n.Condition] = []
    for op, literal in tests:
        of = row if not found else partition.another()
        if node.name in RELATIVE_RANKS:
            found.append(_relative(partition, of, op, literal, negated=negated))
            continue
        renamed = {row.var: of.var}
        tests_of = partition.among(of)
        term = partition.term and renamed_in(partition.term, renamed)
        function, distinct = node.name, node.distinct
        if node.name in RANKS:
            function, distinct, term = "COUNT", True, msgid_of(of)
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


def _relative(
    partition: Partition, row: n.Binding, op: str, literal: n.Literal, *, negated: bool
) -> n.Condition:
    """Return what the place of the message is, set against the number of all of its partition.

    A message alone has the PERCENT_RANK 0, and no share of others: behind a NOT a comparison of it
    that is false must not be unknown.
    """
    node, message = partition.node, partition.message
    others = [by_msgid("<>", row, message)]
    function, rows = "SHARE", partition.ordered(row)
    if node.name == "NTILE":
        function, tests = "NTILE", [*others, partition.before(row, message)]
    elif node.name == "CUME_DIST":
        tests = [partition.earlier(row, message, peers=True)]
    else:
        rows, tests = [*rows, *others], [partition.earlier(row, message)]
    made = n.Aggregate(
        function, True, msgid_of(row), (row,), n.And.of(rows), aggregate_type(function, None),
        n.Among(None, n.And.of(tests), node.count), span=node.span,
    )  # fmt: skip
    threshold(replace(made, function=node.name), op, literal, node.span)
    compared = threshold(made, op, literal, node.span)
    assert isinstance(literal.value, int | float)
    of_one = holds_of_zero(op, literal.value)
    if node.name != "PERCENT_RANK" or not (of_one or negated):
        return compared
    other = partition.another()
    tests = [*partition.ordered(other), by_msgid("<>", other, message)]
    others_are_there = n.Exists((other,), n.And.of(tests), span=node.span)
    if of_one:
        return n.Or((compared, n.Not(others_are_there)))
    return n.And((compared, others_are_there))


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
    return [*tests, counted("=", count - 1, other, inside)]


def _less_one(op: str, literal: n.Literal) -> tuple[str, n.Literal]:
    """Return the comparison of the number of rows before: one less than a rank."""
    value = literal.value
    assert isinstance(value, int | float)
    if value == 1 and op in ("=", "<="):
        return "<", n.Literal(1, Type.INTEGER, span=literal.span)
    return op, constant(value - 1, literal.type, literal.span)
