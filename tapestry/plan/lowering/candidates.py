"""Lower the disjunct of one signature group: its candidates, its events, its answer at an instant.

A delta query is driven by the rows of one table that can put its event into a filter's window,
by their ``ts`` or ``received``.  They give candidates (``columns.py``), which are then tested at
their instant c.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from sqlglot import exp

from tapestry.plan import sql
from tapestry.plan.group import SignatureGroup, constant_table, slices
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import at_c, free_columns, key_of, project, slots
from tapestry.plan.lowering.nested import NestedLowering
from tapestry.plan.lowering.scope import Scope, column_alias, table_column
from tapestry.plan.lowering.top_k import can_sweep
from tapestry.plan.lowering.value_changes import DISJUNCT_KEY
from tapestry.plan.relation import SEPARATOR, Field, KeyLookup, Range
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import Conjunction, DeltaQuery, TopKTest

Covers = Callable[[str, tuple[Range, ...], str], bool]
"""Tells whether a table can hold rows of which a column lies in one of the ranges."""

Driver = DeltaQuery | TopKTest
"""Makes candidates: the rows of a delta query, or of what enters a top or leaves it."""

Test = tuple[Conjunction, tuple[n.Binding, ...]]
"""Tests of candidates, and the bindings that are their evidence."""

SHOWN = ("msgid", "audience", "ts")
"""The columns of a message that a statement gives."""


class DisjunctLowering:
    """Lowers the disjunct of one group, into one assembly."""

    def __init__(self, assembly: Assembly, group: SignatureGroup) -> None:
        self.assembly = assembly
        self.constant_rows = group.rows
        self.message = group.disjunct.message
        self.delta_queries = group.disjunct.delta_queries
        self.conjunction = group.disjunct.monotone.conjunction
        self.nested = NestedLowering(assembly, group.rows)
        self.constants = f"constants_{len(assembly.relations)}"
        assembly.relations.append(constant_table(self.constants, group.rows))
        self.nested.bound_views.constants = self.constants
        self.scope = Scope("k")
        self._shown = {(self.message.var, column) for column in SHOWN}

    def candidates(self, until: int, covers: Covers) -> Iterator[exp.Select]:
        """Yield the candidates of the delta queries that pass their test.

        A test that reads other rows is lowered once for all delta queries that have it.
        """
        driven, tops = self._drivers(covers)
        together: dict[object, list[tuple[Driver, Test]]] = defaultdict(list)
        for delta in driven:
            test = (delta.test, () if delta.test.bindings else delta.evidence)
            reads_rows = delta.test.bindings or delta.test.nested
            together[test if reads_rows else delta].append((delta, test))
        for top in tops:
            together[self.conjunction, ()].append((top, (self.conjunction, ())))
        for drivers in together.values():
            given, bound = [], []
            for driver, test in drivers:
                given.append(self._given(driver, until, test))
                bound.append(self.nested.bound_views.views())
            self.nested.bound_views.bind_to_any(bound)
            yield self._tested(sql.union(given, distinct=True), drivers[0][1])

    def _given(self, driver: Driver, until: int, test: Test) -> exp.Select:
        """Return the candidates that a delta query or a top gives, untested."""
        if isinstance(driver, TopKTest):
            when = "ends" if driver.negated else "begins"
            scope, select, c = self._with_moved(*self._moved(driver, until, when), driver)
            distinct = bool(self.conjunction.bindings)
        else:
            select, scope = self._driven(driver, until)
            c = scope.instant(driver.event)
            distinct = scope.tables != {self.message.var, *(binding.var for binding in test[1])}
        self._project(select, scope, c, test)
        return sql.distinct(select) if distinct else select

    def events(self, until: int, covers: Covers) -> Iterator[exp.Select]:
        """Yield the candidates of each delta query, untested, in OUTPUT's columns."""
        driven, tops = self._drivers(covers)
        for delta in driven:
            select, scope = self._driven(delta, until)
            own = self.message in delta.bindings
            msgid = table_column(self.message.var, "msgid") if own else None
            yield self._untested(select, msgid, scope.instant(delta.event))
        for top in tops:
            for when in ("begins", "ends"):
                select, name = self._moved(top, until, when)
                own = top.message.var == self.message.var
                msgid = sql.column("msgid", name) if own else None
                yield self._untested(select, msgid, sql.column(when, name))

    def answer_at(self, instant: exp.Expr, asked: tuple[Field, ...] = ()) -> exp.Select:
        """Return the messages for which the disjunct holds at the instant, among those asked."""
        scope = self.scope.binding(self.message.var)
        select = sql.select(source=sql.table(self.constants, "k"))
        self.nested.bound_views.clear()
        by_msgid = any(field.name == "msgid" for field in asked)
        lookup = KeyLookup("msgid", ("asked",), "msgid") if by_msgid else None
        sql.cross_join(select, self.nested.bound_views.bind(self.message, None, lookup))
        arrived = sql.le(table_column(self.message.var, "ts"), instant.copy())
        sql.where(select, self.nested.visible(self.message, scope), arrived)
        if asked:
            sql.cross_join(select, sql.table("asked", "a"))
            same = sql.eq(sql.column("filter_id", "a"), scope.outer_column("filter_id"))
            sql.where(select, same)
        if by_msgid:
            msgid = table_column(self.message.var, "msgid")
            sql.where(select, sql.eq(sql.column("msgid", "a"), msgid))
        self._project(select, scope, instant, (self.conjunction, ()))
        return self._tested(select, (self.conjunction, ()))

    def _drivers(self, covers: Covers) -> tuple[list[DeltaQuery], list[TopKTest]]:
        """Return the delta queries that rows drive, and the tops that drive the others.

        A delta query without a row that can put its event into a filter's window is left out.
        A top changes only when a message enters it or leaves it: where that is swept, it drives
        what the rows that are ranked would.
        """
        active = [delta for delta in self.delta_queries if self._has_rows(delta, covers)]
        tops = list(filter(can_sweep, self.conjunction.top_k_tests))
        ranked = {top.binding for top in tops}
        driven = [delta for delta in active if ranked.isdisjoint(delta.bindings)]
        return driven, tops if len(driven) < len(active) else []

    def _has_rows(self, delta: DeltaQuery, covers: Covers) -> bool:
        if delta.driver is None:
            return True
        binding, by = delta.driver
        return covers(binding.table, slices(self.constant_rows, delta.event), by)

    def _driven(self, delta: DeltaQuery, until: int) -> tuple[exp.Select, Scope]:
        """Return FROM and WHERE of a delta query's candidates, and the scope of both."""
        scope = self.scope.binding(*(binding.var for binding in delta.bindings))
        c = scope.instant(delta.event)
        ranges = slices(self.constant_rows, delta.event)
        select = sql.select(source=sql.table(self.constants, "k"))
        self.nested.bound_views.clear()
        binding, by = delta.driver or (None, "ts")
        tables = self.nested.bound_views.tables(delta.bindings, delta.plain, binding, ranges, by=by)
        for binding, table in zip(delta.bindings, tables, strict=True):
            sql.where(sql.cross_join(select, table), self.nested.visible(binding, scope))
        if delta.event.anchor is not None:
            sql.where(select, _in_ranges(scope.term(delta.event.anchor[0]), ranges))
        sql.where(
            select,
            *self.nested.bound_views.set_joins(delta.bindings, scope),
            *map(scope.condition, delta.plain),
            *self._in_window(c, until),
            *(sql.le(scope.instant(point), c.copy()) for point in delta.before),
        )
        return select, scope

    def _moved(self, top: TopKTest, until: int, when: str) -> tuple[exp.Select, str]:
        """Return FROM and WHERE of what enters a top in the window, or leaves it."""
        name = self.nested.top_k.periods(top)
        select = sql.select(source=sql.table(self.constants, "k"))
        sql.cross_join(select, sql.table(name))
        same = sql.same(DISJUNCT_KEY, name, self.scope.outer)
        sql.where(select, *same, *self._in_window(sql.column(when, name), until))
        return select, name

    def _with_moved(
        self, select: exp.Select, name: str, top: TopKTest
    ) -> tuple[Scope, exp.Select, exp.Expr]:
        """Have ``_moved`` bind the message that moves, and what the conjunction binds with it.

        Return the scope of both, the SELECT, and the instant.
        """
        bindings = (self.message, *self.conjunction.bindings)
        scope = self.scope.binding(*(binding.var for binding in bindings))
        moved = next(binding for binding in bindings if binding.var == top.message.var)
        c = sql.column("ends" if top.negated else "begins", name)
        self.nested.bound_views.clear()
        lookup = KeyLookup("msgid", (name,), "msgid")
        plain = self.conjunction.plain
        tables = self.nested.bound_views.tables(bindings, plain, moved, None, lookup)
        for binding, table in zip(bindings, tables, strict=True):
            arrived = sql.le(table_column(binding.var, "ts"), c.copy())
            sql.where(sql.cross_join(select, table), self.nested.visible(binding, scope), arrived)
        sql.where(
            select,
            sql.eq(sql.column("msgid", name), scope.term(top.message)),
            *self.nested.bound_views.set_joins(bindings, scope),
            *map(scope.condition, plain),
        )
        return scope, select, c

    def _in_window(self, c: exp.Expr, until: int) -> list[exp.Expr]:
        return [
            sql.gt(c.copy(), self.scope.outer_column("since")),
            sql.le(c.copy(), self.scope.outer_column("until")),
            sql.le(c.copy(), sql.literal(until)),
        ]

    def _untested(self, select: exp.Select, msgid: exp.Expr | None, c: exp.Expr) -> exp.Select:
        """Return a candidate SELECT in OUTPUT's columns; without a msgid, for every message."""
        nothing = sql.cast(sql.literal(None), "text")
        sql.add_columns(
            select,
            self.scope.outer_column("filter_id"),
            sql.alias(msgid or nothing, "msgid"),
            sql.alias(sql.literal(""), "audience"),
            sql.alias(sql.literal(0), "ts"),
            sql.alias(c, "c"),
            self.scope.outer_column("disjunct"),
            sql.alias(sql.literal(""), "evidence"),
        )
        return sql.distinct(select)

    def _project(self, select: exp.Select, scope: Scope, c: exp.Expr, tested: Test) -> None:
        """Have a SELECT give candidates at c, with the columns that their test reads."""
        test, evidence = tested
        wanted = free_columns((test,)) | set(map(key_of, evidence))
        if all(binding.var != self.message.var for binding in test.bindings):
            wanted |= self._shown
        project(select, scope, wanted, slots(test), c)
        if not test.bindings:
            aggregates = self.nested.aggregates
            counts = (aggregates.may_count(having, scope, c) for having in test.having_tests)
            sql.where(select, *(prefilter for prefilter in counts if prefilter is not None))

    def _tested(self, candidates: exp.Query, tested: Test) -> exp.Select:
        """Return the candidates that pass the test at their c, in OUTPUT's columns."""
        test, evidence = tested
        bound = {binding.var for binding in test.bindings}
        name = self.assembly.name(candidates)
        own = at_c(name)
        conditions: list[exp.Expr] = []
        if test.bindings:
            evidence = test.bindings
            joined, own = self.nested.joined(test, own)
            wanted = self._shown | free_columns(test.nested) | set(map(key_of, evidence))
            project(joined, own.binding(*bound), wanted, slots(test.nested), own.term(n.Now()))
            name = self.assembly.name(joined)
            own = at_c(name)
        else:
            conditions += map(own.condition, (*test.plain, *test.temporal_predicates))
        conditions += self.nested.conditions(test, own)
        keys = (own.outer_column(column_alias(*key_of(binding))) for binding in evidence)
        joined_keys = sql.call("concat_ws", sql.literal(SEPARATOR), *keys)
        final = sql.select(
            own.outer_column("filter_id"),
            *(
                sql.alias(own.outer_column(column_alias(self.message.var, column)), column)
                for column in SHOWN
            ),
            own.outer_column("c"),
            own.outer_column("disjunct"),
            sql.alias(joined_keys if evidence else sql.literal(""), "evidence"),
            source=sql.table(name),
        )
        return sql.where(final, *conditions)


def _in_ranges(column: exp.Expr, ranges: tuple[Range, ...]) -> exp.Expr:
    bounds = ((sql.literal(low), sql.literal(high)) for low, high in ranges)
    within = (
        sql.all_of(sql.gt(column.copy(), low), sql.le(column.copy(), high)) for low, high in bounds
    )
    return sql.paren(sql.any_of(*within))
