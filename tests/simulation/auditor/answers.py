"""Q(t) of a filter at every instant at once: when each message satisfies its condition.

Each node becomes a function of the rows that are bound; it returns when it is true and when it is
false (``spans``).  A row counts while it is there, EXISTS is the union over rows, an aggregate
changes its value where a row begins or ceases to count.  No instant is tried: all are solved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulation.auditor import agreement, sequences, values
from tests.simulation.auditor.nodes import (
    MESSAGES,
    SHARES,
    Agreement,
    And,
    Arith,
    Binding,
    Call,
    Column,
    Compare,
    Exists,
    Fold,
    Has,
    InFilter,
    InList,
    InQuery,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Now,
    Or,
    Sequence,
    Threshold,
    Top,
    Truth,
    free,
    has_now,
)
from tests.simulation.auditor.parts import (
    Env,
    Test,
    Value,
    all_of,
    any_of,
    is_set,
    key_of,
    linear,
    once,
    one_of,
)
from tests.simulation.auditor.ranks import Counted, of_the_last, place, placed, ranked, segments
from tests.simulation.auditor.spans import (
    ALL,
    COMPARE,
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Spans,
    Truth3,
    known,
    meet,
    sure,
    union,
    union_all,
    without,
)
from tests.simulation.auditor.tables import Row, Tables
from tests.simulation.auditor.waiting import ORDINARY, Clock, instants_of

Rows = Callable[[Env], list[tuple[Env, Spans]]]
"""Gives the rows that meet a condition, each with when it does so."""

Resolve = Callable[[str, str], Node]
"""Gives the condition of another filter, by its owner ("" is the asker) and its name."""


def no_references(owner: str, name: str) -> Node:
    """Know of no other filter."""
    raise LookupError(f"no filter {owner}.{name}")


def answer(
    condition: Node,
    tables: Tables,
    resolve: Resolve = no_references,
    rows: list[Row] | None = None,
    clock: Clock = ORDINARY,
) -> dict[str, Spans]:
    """Return when each message satisfies a condition on ``m``; one that never does is left out.

    Of ``rows`` alone, if these are given; ``now()`` is what a clock says.
    """
    test = _Compiler(tables, resolve, clock).condition(condition)
    found: dict[str, Spans] = {}
    for row in tables.rows[MESSAGES] if rows is None else rows:
        spans = meet(row["there"], test({"m": row})[0])
        if spans:
            found[row["msgid"]] = union(found.get(row["msgid"], NONE), spans)
    return found


def truth_of(condition: Node, row: Row) -> Spans:
    """Return when a condition on ``m`` alone is true of a message."""
    return _Compiler(Tables((), (), ()), no_references).condition(condition)({"m": row})[0]


class _Compiler:
    def __init__(self, tables: Tables, resolve: Resolve, clock: Clock = ORDINARY) -> None:
        self.tables, self.resolve, self.clock = tables, resolve, clock

    # Terms: a value for the rows that are bound, and now().

    def term(self, node: Node) -> Value:
        match node:
            case Column(var, name):
                return lambda env, now: env[var][name]
            case Literal(value):
                return lambda env, now: value
            case Now():
                return lambda env, now: now
            case Arith(op, left, right):
                a, b = self.term(left), self.term(right)
                return lambda env, now: values.arith(op, a(env, now), b(env, now))
            case Call(name, args):
                parts = [self.term(arg) for arg in args]
                return lambda env, now: values.call(name, [part(env, now) for part in parts])
        raise TypeError(f"{node} is no term")

    # Conditions: when true, when false.

    def condition(self, node: Node) -> Test:
        match node:
            case Truth(value):
                return lambda env: TRUE if value else FALSE
            case Not(arg):
                inner = self.condition(arg)
                return lambda env: inner(env)[::-1]
            case And(args):
                return all_of([self.condition(arg) for arg in args])
            case Or(args):
                return one_of([self.condition(arg) for arg in args])
            case Exists(bindings, condition):
                rows = self.rows(bindings, condition)
                return once(node, lambda env: sure(union_all(spans for _, spans in rows(env))))
            case InQuery():
                return once(node, self.in_query(node))
            case Threshold():
                return once(node, self.threshold(node))
            case Top():
                return self.top(node)
            case Sequence():
                return sequences.compiled(node, self.step, self.condition)
            case Agreement(one, other_, op, share):
                people = self.term(one), self.term(other_)
                return agreement.compiled(people, op, share, self.tables)
            case InFilter(var, owner, name):
                other = self.condition(self.resolve(owner, name))
                return lambda env: other({"m": env[var]})
            case Compare(op, left, right) if has_now(node):
                a, b = self.term(left), self.term(right)
                if self.clock == ORDINARY:
                    return lambda env: linear(a, b, op, env)
                when = instants_of(self.clock)
                return lambda env: (
                    when(linear(a, b, op, env)[0]),
                    when(linear(a, b, op, env)[1]),
                )
        return self.plain(node)

    def plain(self, node: Node) -> Test:
        """Compile a test without ``now()``: it does not change."""
        match node:
            case Compare(op, left, right):
                a, b, check = self.term(left), self.term(right), COMPARE[op]
                if is_set(left):
                    return lambda env: known(
                        any_of(a(env, 0), lambda e: check(e, b(env, 0)), b(env, 0))
                    )
                return lambda env: known(values.compare(a(env, 0), op, b(env, 0)))
            case Like(term, pattern):
                return self.about(term, lambda value: values.like(value, pattern))
            case Has(term, wanted):
                return self.about(term, lambda value: values.has(value, wanted))
            case IsNull(term):
                a = self.term(term)
                return lambda env: known(a(env, 0) is None)
            case InList(term, listed):
                among = frozenset(listed) - {None}
                absent = None if None in listed else False
                return self.about(
                    term, lambda value: None if value is None else value in among or absent
                )
        raise TypeError(f"{node} is no condition")

    def about(self, term: Node, test: Callable[[Any], bool | None]) -> Test:
        a = self.term(term)
        if is_set(term):
            return lambda env: known(values.some(map(test, a(env, 0))))
        return lambda env: known(test(a(env, 0)))

    # Rows of subqueries.

    def rows(
        self, bindings: tuple[Binding, ...], condition: Node
    ) -> Callable[[Env], list[tuple[Env, Spans]]]:
        """Compile what gives the rows that meet a condition, each with when it does so."""
        parts = condition.args if isinstance(condition, And) else (condition,)
        bound: set[str] = {b.var for b in bindings}
        steps = []
        waiting = list(parts)
        for binding in bindings:
            bound.discard(binding.var)
            ready = [part for part in waiting if not free(part) & bound]
            waiting = [part for part in waiting if free(part) & bound]
            steps.append(self.step(binding, ready))

        def found(env: Env) -> list[tuple[Env, Spans]]:
            partial: list[tuple[Env, Spans]] = [(env, ALL)]
            for step in steps:
                partial = [row for outer, spans in partial for row in step(outer, spans)]
            return partial

        return found

    def step(
        self, binding: Binding, parts: list[Node]
    ) -> Callable[[Env, Spans], list[tuple[Env, Spans]]]:
        """Compile one variable: its rows by the index of an equality, then tested."""
        var, table = binding.var, binding.table
        tests = [self.condition(part) for part in parts if free(part) - {var}]
        alone = [self.condition(part) for part in parts if not free(part) - {var}]
        key = next(filter(None, (key_of(part, var) for part in parts)), None)
        wanted = self.term(key[1]) if key else None
        memo: dict[int, Spans] = {}

        def there(row: Row) -> Spans:
            spans = memo.get(id(row))
            if spans is None:
                spans = row["there"]
                for test in alone:
                    spans = spans and meet(spans, test({var: row})[0])
                memo[id(row)] = spans
            return spans

        def found(env: Env, spans: Spans) -> list[tuple[Env, Spans]]:
            rows = self.tables.rows[table]
            if key and wanted:
                value = wanted(env, 0)
                rows = [] if value is None else self.tables.having(table, key[0], value)
            result = []
            for row in rows:
                left = meet(spans, there(row))
                if not left:
                    continue
                inner = {**env, var: row}
                for test in tests:
                    left = meet(left, test(inner)[0])
                    if not left:
                        break
                if left:
                    result.append((inner, left))
            return result

        return found

    def in_query(self, node: InQuery) -> Test:
        """``IN (SELECT …)``: false only where no row has the value, and none has NULL."""
        assert not has_now(node.term) and not has_now(node.value)
        term, value = self.term(node.term), self.term(node.value)
        rows, of_set = self.rows(node.bindings, node.condition), is_set(node.term)

        def test(env: Env) -> Truth3:
            mine = term(env, 0)
            listed = [(value(inner, 0), spans) for inner, spans in rows(env)]
            if mine is None:
                return NONE, without(union_all(spans for _, spans in listed))
            equal = (lambda v: v in mine) if of_set else (lambda v: v == mine)
            true = union_all(spans for v, spans in listed if v is not None and equal(v))
            unknown = union_all(spans for v, spans in listed if v is None)
            return true, without(union(true, unknown))

        return test

    # Aggregates.

    def aggregate(self, node: Any) -> Callable[[Env], list[Counted]]:
        """Compile what gives the values to be aggregated, each with when it counts."""
        assert not has_now(node.term)
        rows = self.rows(node.bindings, node.condition)
        if node.last:
            rows = self.of_the_last(node, rows)
        if node.function in SHARES:
            return self.shared(node, rows)
        if node.term is None:
            return lambda env: [(1, spans) for _, spans in rows(env)]
        if isinstance(node.term, Fold):
            args = [self.term(arg) for arg in node.term.args]
            return lambda env: [
                (placed(inner, node.bindings, [arg(inner, 0) for arg in args]), spans)
                for inner, spans in rows(env)
            ]
        term = self.term(node.term)
        return lambda env: [(term(inner, 0), spans) for inner, spans in rows(env)]

    def shared(self, node: Any, rows: Rows) -> Callable[[Env], list[Counted]]:
        """Compile what gives the values of all rows, and again of those that pass the test."""
        test = self.condition(node.test)
        term = self.term(node.term) if node.term else lambda env, now: 1

        def found(env: Env) -> list[Counted]:
            values = [(term(inner, 0), inner, spans) for inner, spans in rows(env)]
            known = [(value, inner, spans) for value, inner, spans in values if value is not None]
            passing = [((v, True), meet(spans, test(inner)[0])) for v, inner, spans in known]
            return [*passing, *[((value, False), spans) for value, _, spans in known]]

        return found

    def of_the_last(self, node: Any, rows: Rows) -> Rows:
        """Return what gives the rows with when they are among the last, and pass the test."""
        (binding,) = node.bindings
        test = self.condition(Truth(True) if node.function in SHARES else node.test)

        def found(env: Env) -> list[tuple[Env, Spans]]:
            meeting = rows(env)
            placed = [(place(inner[binding.var]), spans) for inner, spans in meeting]
            last = of_the_last(placed, node.last)
            return [
                (inner, meet(spans, test(inner)[0]))
                for (inner, _), spans in zip(meeting, last, strict=True)
            ]

        return found

    def threshold(self, node: Threshold) -> Test:
        counted, check, constant = self.aggregate(node.aggregate), COMPARE[node.op], node.constant
        aggregate = node.aggregate

        def test(env: Env) -> Truth3:
            if constant is None:
                return UNKNOWN
            true: list[tuple[int, int]] = []
            false: list[tuple[int, int]] = []
            for start, end, value in segments(aggregate, counted(env)):
                if value is not None:
                    (true if check(value, constant) else false).append((start, end))
            return union_all([tuple(true)]), union_all([tuple(false)])

        return test

    def top(self, node: Top) -> Test:
        rows = self.rows((node.binding,), node.condition)
        counted = self.aggregate(node.aggregate)
        outer = sorted(free(node) - {node.var})
        memo: dict[tuple[int, ...], dict[str, Spans]] = {}

        def test(env: Env) -> Truth3:
            key = tuple(id(env[var]) for var in outer)
            if key not in memo:
                found = [
                    (
                        inner[node.binding.var]["msgid"],
                        spans,
                        segments(node.aggregate, counted(inner)),
                    )
                    for inner, spans in rows(env)
                ]
                memo[key] = ranked(found, node.limit, node.aggregate.function == "COUNT")
            return sure(memo[key].get(env[node.var]["msgid"], NONE))

        return test
