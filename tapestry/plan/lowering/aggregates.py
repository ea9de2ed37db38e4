"""Lower aggregates for a relation of candidates: grouped by candidate, or kept running."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.plan import sql
from tapestry.plan.group import ConstantRow
from tapestry.plan.lowering import running_aggregates
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import (
    CandidateJoins,
    VariableColumn,
    at_c,
    candidate_key,
    columns_of,
    free_columns,
    key_of,
    project,
    row_identity,
    semi_join,
    slots,
)
from tapestry.plan.lowering.folds import folded, order_columns
from tapestry.plan.lowering.running_aggregates import RunningAggregates, share_value
from tapestry.plan.lowering.scope import Scope, column_alias, table_column
from tapestry.plan.lowering.set_join import outer_tie
from tapestry.plan.relation import Field, Relation
from tapestry.plan.signature import constant_value, values_by_slot
from tapestry.query.check.copies import moment
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import SHARES
from tapestry.rewrite.stages import Conjunction, HavingTest, NormalAggregate

AGGREGATES = {"COUNT": exp.Count, "SUM": exp.Sum, "AVG": exp.Avg, "MIN": exp.Min, "MAX": exp.Max}


class AggregateLowering:
    """Lowers for the constant rows of one group, into one assembly."""

    def __init__(
        self, assembly: Assembly, constant_rows: Sequence[ConstantRow], joins: CandidateJoins
    ) -> None:
        self.assembly = assembly
        self.constant_rows = constant_rows
        self.joins = joins
        self.running = RunningAggregates(assembly, joins)

    def having_test(self, test: HavingTest, outer: Scope) -> exp.Expr:
        """Return the test of an aggregate, for a relation of candidates."""
        free = free_columns((test,))
        base = self.base(outer, slots(test), free)
        if isinstance(test.aggregate.term, n.Fold):
            return self._folded(test, test.aggregate.term, base, free, outer)
        at_many = not self.assembly.is_of_one_instant
        if at_many and running_aggregates.can_run(test.aggregate):
            return self.running.having_test(test, base, free, outer)
        return self._grouped(test, base, free, outer)

    def may_count(self, test: HavingTest, scope: Scope, c: exp.Expr) -> exp.Expr | None:
        """Return whether an aggregate could count any row at c; None if it can pass without.

        It is weaker than the aggregate's test and the same for all constant rows: a candidate
        that fails it is left out before it is joined with them.  Rows that any filter may see
        count.
        """
        aggregate = test.aggregate
        if len(aggregate.rows) > 1 or aggregate.rows[0].bindings or len(aggregate.bindings) > 1:
            return None
        plain = aggregate.rows[0].plain
        ties = [condition for condition in plain if _ties(condition)]
        (binding,) = aggregate.bindings
        if not ties or self.joins.bound_views.binds(binding) or any(self._passes_none(test)):
            return None
        if outer_tie(ties, {binding.var}) is not None:
            return None
        (table,) = self.joins.bound_views.tables((binding,), plain)
        audiences = sorted({name for row in self.constant_rows for name in row.audiences})
        anybody = f"anybody_{len(self.assembly.relations)}"
        field = Field("audiences", Type.TEXT, many=True)
        self.assembly.relations.append(Relation(anybody, (field,), ((tuple(audiences),),)))
        counted = sql.select(sql.literal(1), source=table)
        sql.cross_join(counted, sql.table(anybody))
        return sql.exists(
            sql.where(
                counted,
                self.joins.visible(binding, Scope(anybody)),
                *self.joins.bound_views.set_joins((binding,), scope.binding(binding.var)),
                *map(scope.binding(binding.var).condition, ties),
                sql.le(table_column(binding.var, "ts"), c.copy()),
            )
        )

    def _grouped(
        self, test: HavingTest, base: str, free: Collection[VariableColumn], outer: Scope
    ) -> exp.Expr:
        """Return whether a group of rows passes the test, or there is none where 0 passes."""
        aggregate, constant = test.aggregate, test.constant
        among = aggregate.among
        wanted = slots(constant) | slots(among and among.tiles)
        keys = candidate_key(free)
        if among and among.limit:
            rows = self._last(base, aggregate, among, free, wanted)
        else:
            columns = {*free, *columns_of(among)}
            rows = self.joined(base, aggregate, aggregate.rows, (), columns, wanted | slots(among))
        groups = sql.group_by(
            sql.select_from(rows, keys),
            *(sql.column(key, rows, quoted=True) for key in keys),
            *(sql.column(f"p{slot}", rows) for slot in sorted(wanted)),
        )
        compare = sql.COMPARISONS[test.op]
        passes = compare(aggregate_over(aggregate, rows), at_c(rows).term(constant))
        passed = self.assembly.name(sql.having(groups.copy(), passes))
        none = self._passes_none(test)
        if not any(none):
            return semi_join(passed, keys, outer)
        failed = self.assembly.name(sql.having(groups, sql.negate(passes.copy())))
        fails = sql.negate(semi_join(failed, keys, outer))
        if all(none):
            return fails
        zero = compare(sql.literal(0), outer.term(constant))
        return sql.paren(sql.any_of(semi_join(passed, keys, outer), sql.all_of(zero, fails)))

    def _last(
        self,
        base: str,
        aggregate: NormalAggregate,
        among: n.Among,
        free: Collection[VariableColumn],
        parameters: Collection[int],
    ) -> str:
        """Return the rows that an aggregate over a physical window counts [Law11 §8].

        They are put in order once, and cut off.
        """
        (row,) = aggregate.bindings
        instant = (row.var, moment(row).name)
        columns = {*free, *columns_of(among.test), instant, key_of(row)}
        constants = {*parameters, *slots(among)}
        rows = self.joined(base, aggregate, aggregate.rows, (), columns, constants)
        order = (
            sql.ordered(column_alias(*instant), descending=True),
            sql.ordered(column_alias(*key_of(row))),
        )
        place = sql.window(exp.DenseRank(), candidate_key(free), *order, quoted=True)
        placed = self.assembly.name(
            sql.select(exp.Star(), sql.alias(place, "place"), source=sql.table(rows))
        )
        scope = at_c(placed)
        assert among.limit
        within = sql.le(sql.column("place", placed), scope.term(among.limit))
        found = sql.where(sql.select(exp.Star(), source=sql.table(placed)), within)
        if aggregate.function not in SHARES:
            sql.where(found, scope.condition(among.test))
        return self.assembly.name(found)

    def _folded(
        self,
        test: HavingTest,
        term: n.Fold,
        base: str,
        free: Collection[VariableColumn],
        outer: Scope,
    ) -> exp.Expr:
        """Return whether an aggregate that is defined in SQL passes its test."""
        aggregate = test.aggregate
        columns = {*free, *order_columns(aggregate.bindings)}
        rows = self.joined(base, aggregate, aggregate.rows, (), columns, ())
        name = folded(self.assembly, term, aggregate.bindings, rows, sorted(free))
        passes = sql.COMPARISONS[test.op](sql.column("value", name), outer.term(test.constant))
        return semi_join(name, candidate_key(free), outer, passes)

    def _passes_none(self, test: HavingTest) -> list[bool]:
        """Tell of each constant row whether an aggregate of no rows passes its test."""
        rows = (values_by_slot(row.constants) for row in self.constant_rows)
        return [test.passes_none(constant_value(test.constant, values)) for values in rows]

    def base(
        self, outer: Scope, parameters: Collection[int], columns: Collection[VariableColumn]
    ) -> str:
        """Return the candidates once each, with what an aggregate needs to know of them."""
        select = sql.select(source=sql.table(outer.outer))
        c = sql.column("c", outer.outer)
        project(select, Scope(outer.outer), columns, parameters, c)
        return self.assembly.name(sql.distinct(select))

    def joined(
        self,
        base: str,
        aggregate: NormalAggregate,
        parts: Sequence[Conjunction],
        also: tuple[n.Binding, ...],
        columns: Collection[VariableColumn],
        parameters: Collection[int],
    ) -> str:
        """Return the rows that an aggregate counts, each once for each candidate.

        With the columns and constants wanted, and those that the aggregate's term reads.
        """
        bindings = (*also, *aggregate.bindings)
        once = len(parts) == 1 and not parts[0].bindings
        wanted = {*columns, *columns_of(aggregate.term)}
        if not once:
            wanted |= row_identity(bindings)
        constants = {*parameters, *slots(aggregate.term)}
        names = ["filter_id", "disjunct", "audiences", *(f"p{slot}" for slot in sorted(constants))]
        names += [*(column_alias(*column) for column in sorted(wanted)), "c"]
        queries: list[exp.Query] = []
        for part in parts:
            bound = replace(part, bindings=(*bindings, *part.bindings))
            rows, scope = self.joins.joined(bound, at_c(base))
            project(
                rows,
                scope.binding(*(binding.var for binding in bound.bindings)),
                wanted | free_columns(bound.nested),
                constants | slots(bound.nested),
                scope.term(n.Now()),
            )
            if bound.nested:
                name = self.assembly.name(rows)
                rows = sql.select_from(name, names)
                sql.where(rows, *self.joins.conditions(bound, at_c(name)))
            queries.append(rows)
        name = self.assembly.name(sql.union(queries))
        return name if once else self.assembly.name(sql.distinct(sql.select_from(name, names)))


def aggregate_over(aggregate: NormalAggregate, rows: str) -> exp.Expr:
    """Return the aggregate over a relation of rows."""
    scope = at_c(rows)
    term = scope.term(aggregate.term) if aggregate.term else sql.literal(1)

    def of(function: str, term: exp.Expr) -> exp.Expr:
        values = exp.Distinct(expressions=[term]) if aggregate.distinct else term
        return AGGREGATES[function](this=values)

    if aggregate.function not in SHARES:
        return of(aggregate.function, term)
    assert aggregate.among
    passing = exp.If(this=scope.condition(aggregate.among.test), true=term.copy())
    numbers = of("COUNT", exp.Case(ifs=[passing])), of("COUNT", term)
    return share_value(aggregate.among, *numbers, scope)


def _ties(condition: n.Condition) -> bool:
    """Tell whether a condition is an equality of two columns."""
    match condition:
        case n.Compare(op="=", left=n.Column(), right=n.Column()):
            return True
    return False
