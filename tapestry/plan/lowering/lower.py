"""Lower disjuncts to one SQL statement, each for all rows of its group.

Spark refuses a correlated subquery that reaches over a level, so quantifiers become joins:
what a delta query is driven by gives candidates, a relation ``(filter, disjunct, c, columns …)``,
and ``nested`` lowers what is asked of other rows to joins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from tapestry.core.schema import KEY_COLUMN, Type
from tapestry.plan.group import SignatureGroup, constant_table, slices
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import free_columns, slots
from tapestry.plan.lowering.nested import NestedLowering
from tapestry.plan.lowering.scope import Scope, column, column_alias
from tapestry.plan.lowering.top_k import can_sweep
from tapestry.plan.relation import SEPARATOR, Field, KeyLookup, Range, Relation, Statement
from tapestry.query.tree.nodes import Binding
from tapestry.rewrite.stages import Conjunction, DeltaQuery, TopKTest

Covers = Callable[[str, tuple[Range, ...]], bool]


def lower(groups: Sequence[SignatureGroup], until: int, covers: Covers) -> Statement | None:
    """Return the statement that finds each filter's candidates in (its since, its until].

    ``until`` is the greatest of theirs.  One row per filter and message: the least c, with
    the evidence for it.  A delta query whose slice of its driving table is empty, as ``covers``
    tells, is left out; None if all are.
    """
    assembly = Assembly(_windows(groups, until))
    for group in groups:
        build = _Builder(assembly, group)
        assembly.found += build.candidates(until, covers)
    return assembly.statement() if assembly.found else None


def lower_events(groups: Sequence[SignatureGroup], until: int, covers: Covers) -> Statement | None:
    """Return the statement for the instants in each filter's window at which Q can change.

    A row for each filter, message and instant c; msgid is NULL where every message's answer
    can change at c.  For the delta queries of the general rule only; None if nothing happened.
    """
    assembly = Assembly(_windows(groups, until))
    for group in groups:
        build = _Builder(assembly, group)
        assembly.found += build.events(until, covers)
    return assembly.statement("c") if assembly.found else None


def lower_at(groups: Sequence[SignatureGroup], at: int) -> Statement:
    """Return the statement for Q(at) of each filter."""
    assembly = Assembly({row.filter_id: (at, at) for group in groups for row in group.rows})
    for group in groups:
        assembly.found.append(_Builder(assembly, group).held_at(exp.convert(at)))
    return assembly.statement()


def lower_each(groups: Sequence[SignatureGroup], asked: Sequence[tuple[int, int]]) -> Statement:
    """Return the statement for Q(c) of the filters and instants asked."""
    return _asked(groups, (Field("filter_id", Type.INTEGER), Field("at", Type.INSTANT)), asked)


def lower_among(
    groups: Sequence[SignatureGroup], asked: Sequence[tuple[int, str, int]]
) -> Statement:
    """Return the statement for those of the filters, msgids and instants asked that match."""
    fields = (
        Field("filter_id", Type.INTEGER),
        Field("msgid", Type.TEXT),
        Field("at", Type.INSTANT),
    )
    return _asked(groups, fields, asked)


def _asked(
    groups: Sequence[SignatureGroup], fields: tuple[Field, ...], rows: Sequence[tuple[Any, ...]]
) -> Statement:
    spans: dict[int, Range] = {}
    for row in rows:
        low, high = spans.get(row[0], (row[-1], row[-1]))
        spans[row[0]] = (min(low, row[-1]), max(high, row[-1]))
    assembly = Assembly(spans)
    for group in groups:
        build = _Builder(assembly, group)
        assembly.found.append(build.held_at(exp.column("at", "a"), fields))
    assembly.relations.append(Relation("asked", fields, tuple(rows)))
    return assembly.statement("c")


def _windows(groups: Sequence[SignatureGroup], until: int) -> dict[int, Range]:
    return {
        row.filter_id: (row.since, min(row.until, until)) for group in groups for row in group.rows
    }


class _Builder:
    """Lowers the disjunct of one group."""

    def __init__(self, assembly: Assembly, group: SignatureGroup) -> None:
        self.assembly = assembly
        self.constant_rows = group.rows
        self.message = group.disjunct.message
        self.delta_queries = group.disjunct.delta_queries
        self.whole = group.disjunct.monotone.conjunction
        self.nested = NestedLowering(assembly, group.rows)
        self.constants = f"constants_{len(assembly.relations)}"
        assembly.relations.append(constant_table(self.constants, group.rows))
        self.scope = Scope("k")

    def candidates(self, until: int, covers: Covers) -> Iterator[exp.Select]:
        """Yield the candidates of each delta query that pass its test."""
        alone, tops = self._tops(until, covers)
        for delta_query in alone:
            select = self._driven(delta_query, until, covers)
            if select is not None:
                names = {binding.var for binding in delta_query.bindings}
                scope = self.scope.binding(*names)
                own = () if delta_query.test.bindings else delta_query.evidence
                distinct = names != {self.message.var, *(b.var for b in own)}
                c = scope.moment(delta_query.event)
                yield self._tested(select, scope, c, delta_query.test, own, distinct)
        test = replace(self.whole, bindings=(self.message, *self.whole.bindings))
        for top in tops:
            select, name = self._moved(top, until, "begins")
            yield self._tested(select, self.scope, exp.column("begins", name), test, (), True)

    def events(self, until: int, covers: Covers) -> Iterator[exp.Select]:
        """Yield the candidates of each delta query, untested, in OUTPUT's columns."""
        alone, tops = self._tops(until, covers)
        for delta_query in alone:
            select = self._driven(delta_query, until, covers)
            if select is not None:
                scope = self.scope.binding(*(binding.var for binding in delta_query.bindings))
                msgid = None
                if self.message in delta_query.bindings:
                    msgid = column(self.message.var, "msgid")
                yield self._untested(select, msgid, scope.moment(delta_query.event))
        for top in tops:
            for when in ("begins", "ends"):
                select, name = self._moved(top, until, when)
                own = top.message.var == self.message.var
                msgid = exp.column("msgid", name) if own else None
                yield self._untested(select, msgid, exp.column(when, name))

    def _tops(self, until: int, covers: Covers) -> tuple[list[DeltaQuery], list[TopKTest]]:
        """Return the delta queries to be driven each by itself, and the tops that drive the others.

        What is among a top changes only when a message enters it or leaves it.
        """
        tops = [top for top in self.whole.top_k_tests if not top.negated]
        if not all(map(can_sweep, tops)):
            return list(self.delta_queries), []
        alone = [one for one in self.delta_queries if self.message not in one.test.bindings]
        others = (one for one in self.delta_queries if self.message in one.test.bindings)
        return alone, tops if any(self._drives(one, covers) for one in others) else []

    def _moved(self, top: TopKTest, until: int, when: str) -> tuple[exp.Select, str]:
        """Return FROM and WHERE of what enters a top in the window, or leaves it."""
        name = self.nested.top_k.periods(top)
        select = exp.select().from_(exp.to_table(self.constants).as_("k"), copy=False)
        select = select.join(exp.to_table(name), join_type="cross", copy=False)
        instant = exp.column(when, name)
        same = (
            exp.EQ(this=exp.column(key, name), expression=self.scope.outer_column(key))
            for key in ("filter_id", "disjunct")
        )
        return select.where(*same, *self._in_window(instant, until), copy=False), name

    def _in_window(self, c: exp.Expr, until: int) -> list[exp.Expr]:
        return [
            exp.GT(this=c.copy(), expression=self.scope.outer_column("since")),
            exp.LTE(this=c.copy(), expression=self.scope.outer_column("until")),
            exp.LTE(this=c.copy(), expression=exp.convert(until)),
        ]

    def _untested(self, select: exp.Select, msgid: exp.Expr | None, c: exp.Expr) -> exp.Select:
        return select.select(
            self.scope.outer_column("filter_id"),
            exp.alias_(msgid or exp.cast(exp.null(), "text"), "msgid", copy=False),
            exp.alias_(exp.convert(""), "audience", copy=False),
            exp.alias_(exp.convert(0), "ts", copy=False),
            exp.alias_(c, "c", copy=False),
            self.scope.outer_column("disjunct"),
            exp.alias_(exp.convert(""), "evidence", copy=False),
            copy=False,
        ).distinct(copy=False)

    def _drives(self, delta_query: DeltaQuery, covers: Covers) -> bool:
        """Tell whether some row can put the delta query's event into a filter's window."""
        driver = self._driver(delta_query)
        return driver is None or covers(driver.table, slices(self.constant_rows, delta_query.event))

    def _driven(self, delta_query: DeltaQuery, until: int, covers: Covers) -> exp.Select | None:
        """Return FROM and WHERE of one delta query's candidates; None if no row drives it."""
        scope = self.scope.binding(*(binding.var for binding in delta_query.bindings))
        c = scope.moment(delta_query.event)
        ranges = slices(self.constant_rows, delta_query.event)
        driver = self._driver(delta_query)
        if not self._drives(delta_query, covers):
            return None
        select = exp.select().from_(exp.to_table(self.constants).as_("k"), copy=False)
        self.nested.bound_views.begin()
        tables = self.nested.bound_views.tables(
            delta_query.bindings, delta_query.plain, driver, ranges
        )
        for binding, table in zip(delta_query.bindings, tables, strict=True):
            select = select.join(table, join_type="cross", copy=False)
            select = select.where(self.nested.visible(binding, scope), copy=False)
        anchor = delta_query.event.anchor
        if anchor is not None:
            select = select.where(_within(scope.term(anchor[0]), ranges), copy=False)
        return select.where(
            *(scope.condition(condition) for condition in delta_query.plain),
            *self._in_window(c, until),
            *(
                exp.LTE(this=scope.moment(moment), expression=c.copy())
                for moment in delta_query.before
            ),
            copy=False,
        )

    def held_at(self, instant: exp.Expr, asked: tuple[Field, ...] = ()) -> exp.Select:
        """Return the messages for which the disjunct holds at the instant, among those asked."""
        scope = self.scope.binding(self.message.var)
        select = exp.select().from_(exp.to_table(self.constants).as_("k"), copy=False)
        self.nested.bound_views.begin()
        by_msgid = any(field.name == "msgid" for field in asked)
        if by_msgid:
            named = KeyLookup("msgid", "asked", "msgid")
            table = self.nested.bound_views.asked(self.message, named)
        else:
            (table,) = self.nested.bound_views.tables((self.message,), ())
        select = select.join(table, join_type="cross", copy=False)
        ts = column(self.message.var, "ts")
        select = select.where(
            self.nested.visible(self.message, scope),
            exp.LTE(this=ts, expression=instant.copy()),
            copy=False,
        )
        if asked:
            select = select.join(exp.to_table("asked").as_("a"), join_type="cross", copy=False)
            same = exp.EQ(
                this=exp.column("filter_id", "a"), expression=scope.outer_column("filter_id")
            )
            select = select.where(same, copy=False)
        if by_msgid:
            msgid = column(self.message.var, "msgid")
            same = exp.EQ(this=exp.column("msgid", "a"), expression=msgid)
            select = select.where(same, copy=False)
        return self._tested(select, scope, instant, self.whole, (), False)

    def _tested(
        self,
        select: exp.Select,
        scope: Scope,
        c: exp.Expr,
        test: Conjunction,
        evidence: tuple[Binding, ...],
        distinct: bool,
    ) -> exp.Select:
        """Return the rows of a candidate SELECT that pass the test at c, in OUTPUT's columns."""
        message = self.message.var
        shows = {(message, "msgid"), (message, "audience"), (message, "ts")}
        bound = {binding.var for binding in test.bindings}
        wanted = free_columns((test,)) | {(b.var, KEY_COLUMN[b.table]) for b in evidence}
        if message not in bound:
            wanted |= shows
        first = self.nested.project(select, scope, wanted, slots(test), c)
        if not test.bindings:
            some = (
                self.nested.aggregates.some(measured, scope, c) for measured in test.having_tests
            )
            first = first.where(*(one for one in some if one is not None), copy=False)
        name = self.assembly.name(first.distinct(copy=False) if distinct else first)
        shown, own = evidence, Scope(name, now=exp.column("c", name))
        conditions: list[exp.Expr] = []
        if test.bindings:
            joined = exp.select().from_(exp.to_table(name), copy=False)
            joined = self.nested.join(joined, test, own)
            wanted = shows | free_columns(test.nested)
            wanted |= {(b.var, KEY_COLUMN[b.table]) for b in test.bindings}
            inner = own.binding(*bound)
            joined = self.nested.project(
                joined, inner, wanted, slots(test.nested), exp.column("c", name)
            )
            name, shown = self.assembly.name(joined), test.bindings
            own = Scope(name, now=exp.column("c", name))
        else:
            conditions += [own.condition(c) for c in (*test.plain, *test.temporal_predicates)]
        conditions += self.nested.conditions(test, own)
        keys = [own.outer_column(column_alias(b.var, KEY_COLUMN[b.table])) for b in shown]
        why = exp.Anonymous(this="concat_ws", expressions=[exp.convert(SEPARATOR), *keys])
        final = exp.select(
            own.outer_column("filter_id"),
            exp.alias_(own.outer_column(column_alias(message, "msgid")), "msgid", copy=False),
            exp.alias_(own.outer_column(column_alias(message, "audience")), "audience", copy=False),
            exp.alias_(own.outer_column(column_alias(message, "ts")), "ts", copy=False),
            own.outer_column("c"),
            own.outer_column("disjunct"),
            exp.alias_(why if keys else exp.convert(""), "evidence", copy=False),
            copy=False,
        ).from_(exp.to_table(name), copy=False)
        return final.where(*conditions, copy=False) if conditions else final

    def _driver(self, delta_query: DeltaQuery) -> Binding | None:
        """Return the binding whose ``ts`` alone decides whether the event is in the window."""
        anchor = delta_query.event.anchor
        if anchor is None or anchor[0].name != "ts":
            return None
        return next(b for b in delta_query.bindings if b.var == anchor[0].var)


def _within(column: exp.Expr, ranges: tuple[Range, ...]) -> exp.Expr:
    return exp.paren(
        exp.or_(
            *(
                exp.and_(
                    exp.GT(this=column.copy(), expression=exp.convert(low)),
                    exp.LTE(this=column.copy(), expression=exp.convert(high)),
                    copy=False,
                )
                for low, high in ranges
            ),
            copy=False,
        ),
        copy=False,
    )
