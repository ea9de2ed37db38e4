"""Lower aggregates for a relation of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.plan.group import ConstantRow
from tapestry.plan.lowering import running_aggregates
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import (
    add_table,
    at_c,
    candidate_key,
    free_columns,
    identity,
    select_from,
    slots,
    stands_in,
)
from tapestry.plan.lowering.key_lookup import BoundViews
from tapestry.plan.lowering.scope import COMPARISONS, Scope, column, column_alias
from tapestry.plan.relation import Field, Relation
from tapestry.plan.signature import Value
from tapestry.query.tree.nodes import Binding, Column, Compare, Condition, Literal
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, HavingTest, NormalAggregate

AGGREGATES = {"COUNT": exp.Count, "SUM": exp.Sum, "AVG": exp.Avg, "MIN": exp.Min, "MAX": exp.Max}


class CandidateJoins(Protocol):
    """How tables are joined to candidates: ``nested.NestedLowering``."""

    bound_views: BoundViews

    def elsewhere(self, assembly: Assembly) -> CandidateJoins: ...

    def visible(self, binding: Binding, scope: Scope) -> exp.Expr: ...

    def join(self, select: exp.Select, part: Conjunction, outer: Scope) -> exp.Select: ...

    def conditions(self, part: Conjunction, scope: Scope) -> list[exp.Expr]: ...

    def project(
        self,
        select: exp.Select,
        scope: Scope,
        columns: set[tuple[str, str]],
        parameters: set[int],
        c: exp.Expr,
    ) -> exp.Select: ...


class AggregateLowering:
    """Lowers for the constant rows of one group, into one assembly."""

    def __init__(
        self, assembly: Assembly, constant_rows: Sequence[ConstantRow], joins: CandidateJoins
    ) -> None:
        self.assembly = assembly
        self.constant_rows = constant_rows
        self.joins = joins

    def elsewhere(self, assembly: Assembly) -> AggregateLowering:
        """Return what lowers for the same constant rows into another assembly."""
        return AggregateLowering(assembly, self.constant_rows, self.joins.elsewhere(assembly))

    def measured(self, measured: HavingTest, outer: Scope) -> exp.Expr:
        """Return the test of an aggregate, for a relation of candidates."""
        free = free_columns((measured,))
        base = self.base(outer, slots(measured), free)
        if running_aggregates.can_run(measured.aggregate):
            return self._running(measured, base, free, outer)
        return self._grouped(measured, base, free, outer)

    def some(self, measured: HavingTest, scope: Scope, c: exp.Expr) -> exp.Expr | None:
        """Return whether an aggregate could count any row at c; None if it need not.

        Weaker than the aggregate's test, but the same for all rows: what fails it is left
        out before it is joined with them.  Rows count that any of the filters may see.
        """
        total = measured.aggregate
        if len(total.rows) > 1 or total.rows[0].bindings or len(total.bindings) > 1:
            return None
        plain = total.rows[0].plain
        ties = [condition for condition in plain if _ties(condition)]
        if not ties or self.joins.bound_views.binds(total.bindings[0]):
            return None
        if any(
            measured.passes_none(self._constant(measured.constant, m)) for m in self.constant_rows
        ):
            return None
        (binding,) = total.bindings
        (table,) = self.joins.bound_views.tables(total.bindings, plain)
        audiences = sorted({name for row in self.constant_rows for name in row.audiences})
        anybody = f"anybody_{len(self.assembly.relations)}"
        field = Field("audiences", Type.TEXT, many=True)
        self.assembly.relations.append(Relation(anybody, (field,), ((tuple(audiences),),)))
        inner = scope.binding(binding.var)
        found = exp.select(exp.convert(1), copy=False).from_(table, copy=False)
        found = found.join(exp.to_table(anybody), join_type="cross", copy=False).where(
            self.joins.visible(binding, Scope(anybody)),
            *(inner.condition(condition) for condition in ties),
            exp.LTE(this=column(binding.var, "ts"), expression=c.copy()),
            copy=False,
        )
        return exp.Exists(this=found)

    def _grouped(
        self, measured: HavingTest, base: str, free: set[tuple[str, str]], outer: Scope
    ) -> exp.Expr:
        """Return whether a group of rows passes the test, or there is none where 0 passes."""
        total, constant = measured.aggregate, measured.constant
        wanted = slots(constant)
        rows = self.joined(base, total, total.rows, (), free, wanted)
        keys = candidate_key(free)
        fixed = [exp.column(f"p{slot}", rows) for slot in sorted(wanted)]
        groups = select_from(rows, keys).group_by(
            *(exp.column(key, rows, quoted=True) for key in keys), *fixed, copy=False
        )
        compare = COMPARISONS[measured.op]
        test = compare(this=value_of(total, rows), expression=at_c(rows).term(constant))
        passed = stands_in(self.assembly.name(groups.having(test)), keys, outer)
        none = [measured.passes_none(self._constant(constant, one)) for one in self.constant_rows]
        if not any(none):
            return passed
        failed = stands_in(self.assembly.name(groups.having(exp.not_(test.copy()))), keys, outer)
        if all(none):
            return exp.not_(failed, copy=False)
        zero = compare(this=exp.convert(0), expression=outer.term(constant))
        return exp.paren(exp.or_(passed, exp.and_(zero, exp.not_(failed))), copy=False)

    def _running(
        self, measured: HavingTest, base: str, free: set[tuple[str, str]], outer: Scope
    ) -> exp.Expr:
        """Return whether the running total passes the test at a candidate's instant.

        The rows of a group are read once: not for every instant, nor for every filter that
        counts the same ones and compares with something else.
        """
        total = measured.aggregate
        parameters = [f"p{slot}" for slot in sorted(slots(total))]
        group = ["audiences", *parameters, *sorted(column_alias(*one) for one in free)]
        name = self.assembly.name(select_from(base, group).distinct(copy=False))
        rows = self.counted(total, Scope(name), group)
        summed = "n" if total.function == "COUNT" else "v"
        changes: exp.Query = _change(rows, group, "alpha", exp.column(summed), exp.column("n"))
        if running_aggregates.expires(total):
            less = (exp.Neg(this=exp.column(summed)), exp.Neg(this=exp.column("n")))
            changes = exp.union(changes, _change(rows, group, "omega", *less), distinct=False)
        instants = self.assembly.name(select_from(base, [*group, "c"]).distinct(copy=False))
        none = _change(instants, group, "c", exp.null(), exp.convert(0), asked=True)
        every = self.assembly.name(exp.union(changes, none, distinct=False))
        value = running_aggregates.SUMS[total.function](this=exp.column("v"))
        totals = select_from(every, [*group, "c"]).select(
            exp.alias_(running_aggregates.running_window(value, group), "v"),
            exp.alias_(
                running_aggregates.running_window(exp.Sum(this=exp.column("n")), group), "n"
            ),
            exp.column("asked"),
        )
        at = self.assembly.name(totals)
        known = select_from(at, [*group, "c"]).select(
            exp.alias_(running_aggregates.running_value(total), "value")
        )
        known = known.where(exp.EQ(this=exp.column("asked"), expression=exp.convert(1)))
        result = self.assembly.name(known)
        test = COMPARISONS[measured.op](
            this=exp.column("value", result), expression=outer.term(measured.constant)
        )
        return stands_in(result, [*group, "c"], outer, test)

    def counted(
        self,
        total: NormalAggregate,
        outer: Scope,
        group: Sequence[str],
        columns: Sequence[tuple[str, str]] = (),
    ) -> str:
        """Return the rows that count for each group: from alpha to omega, a value v, n of them.

        Groups are told apart by columns of the outer relation and by (variable, column) pairs.
        """
        scope = outer.binding(*(binding.var for binding in total.bindings))
        select = exp.select().from_(exp.to_table(outer.outer), copy=False)
        tables = self.joins.bound_views.tables(total.bindings, total.rows[0].plain)
        for binding, table in zip(total.bindings, tables, strict=True):
            select = add_table(select, table)
            select = select.where(self.joins.visible(binding, scope), copy=False)
        alpha, omega, known = running_aggregates.counting_interval(total, scope)
        select = select.where(
            *(scope.condition(condition) for condition in total.rows[0].plain), *known, copy=False
        )
        term = exp.convert(1) if total.term is None else scope.term(total.term)
        keys: list[exp.Expr] = [exp.column(key, outer.outer, quoted=True) for key in group]
        keys += [exp.alias_(column(*one), column_alias(*one), quoted=True) for one in columns]
        select = select.select(*keys, exp.alias_(alpha, "alpha", copy=False))
        if omega is not None:
            select = select.select(exp.alias_(omega, "omega", copy=False))
        one = exp.Case(
            ifs=[exp.If(this=exp.Is(this=term.copy(), expression=exp.null()), true=exp.convert(0))],
            default=exp.convert(1),
        )
        select = select.select(
            exp.alias_(term, "v", copy=False),
            exp.alias_(exp.convert(1) if total.term is None else one, "n", copy=False),
        )
        name = self.assembly.name(select)
        if not (total.distinct and total.function == "COUNT"):
            return name
        # A value counts once, from the first row that has it.
        alike = [*group, *(column_alias(*one) for one in columns), "v", "n"]
        firsts = select_from(name, alike).select("MIN(alpha) AS alpha")
        return self.assembly.name(
            firsts.group_by(*(exp.column(key, name, quoted=True) for key in alike))
        )

    def _constant(self, constant: Literal, row: ConstantRow) -> Value | None:
        """Return the value of a constant in a row."""
        if constant.slot is None:
            return constant.value
        return {c.slot: c.value for c in row.constants}[constant.slot]

    def base(self, outer: Scope, parameters: set[int], columns: set[tuple[str, str]]) -> str:
        """Return the candidates once each, with what an aggregate needs to know of them."""
        select = exp.select().from_(exp.to_table(outer.outer), copy=False)
        c = exp.column("c", outer.outer)
        select = self.joins.project(select, Scope(outer.outer), columns, parameters, c)
        return self.assembly.name(select.distinct(copy=False))

    def joined(
        self,
        base: str,
        total: NormalAggregate,
        parts: Sequence[Conjunction],
        also: tuple[Binding, ...],
        columns: set[tuple[str, str]],
        parameters: set[int],
    ) -> str:
        """Return the rows that an aggregate counts, each once for each candidate.

        With the columns and constants wanted, and those that the aggregate's term reads.
        """
        bindings = (*also, *total.bindings)
        once = len(parts) == 1 and not parts[0].bindings
        term = {(n.var, n.name) for n in walk(total.term) if isinstance(n, Column)}
        wanted = columns | term | (set() if once else identity(bindings))
        constants = parameters | slots(total.term)
        names = ["filter_id", "disjunct", "audiences", *(f"p{slot}" for slot in sorted(constants))]
        names += [*(column_alias(*one) for one in sorted(wanted)), "c"]
        found: list[exp.Query] = []
        for part in parts:
            whole = Conjunction(
                (*bindings, *part.bindings), part.plain, part.temporal_predicates, part.not_exists,
                part.having_tests, part.top_k_tests,
            )  # fmt: skip
            scope = at_c(base)
            rows = self.joins.join(exp.select().from_(exp.to_table(base), copy=False), whole, scope)
            inner = scope.binding(*(b.var for b in whole.bindings))
            needed = wanted | free_columns(whole.nested)
            rows = self.joins.project(
                rows, inner, needed, constants | slots(whole.nested), exp.column("c", base)
            )
            if whole.nested:
                name = self.assembly.name(rows)
                rows = select_from(name, names).where(
                    *self.joins.conditions(whole, at_c(name)), copy=False
                )
            found.append(rows)
        union = found[0]
        for query in found[1:]:
            union = exp.union(union, query, distinct=False, copy=False)
        name = self.assembly.name(union)
        if once:
            return name
        return self.assembly.name(select_from(name, names).distinct(copy=False))


def _change(
    name: str,
    group: Sequence[str],
    at: str,
    value: exp.Expr,
    number: exp.Expr,
    asked: bool = False,
) -> exp.Select:
    """Return what a relation adds to the running total of each group, and when."""
    return select_from(name, group).select(
        exp.alias_(exp.column(at, name), "c"),
        exp.alias_(value, "v"),
        exp.alias_(number, "n"),
        exp.alias_(exp.convert(1 if asked else 0), "asked"),
    )


def value_of(total: NormalAggregate, rows: str) -> exp.Expr:
    """Return the aggregate over a relation of rows."""
    if total.term is None:
        return exp.Count(this=exp.convert(1))
    term = at_c(rows).term(total.term)
    return AGGREGATES[total.function](
        this=exp.Distinct(expressions=[term]) if total.distinct else term
    )


def _ties(condition: Condition) -> bool:
    """Tell whether a condition is an equality of two columns."""
    match condition:
        case Compare(op="=", left=Column(), right=Column()):
            return True
    return False
