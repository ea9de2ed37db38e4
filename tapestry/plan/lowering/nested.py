"""Lower what a conjunction asks of other rows: joins, NOT EXISTS, aggregates and top-k.

Candidates are a relation ``(filter_id, disjunct, audiences, c, constants …, columns …)``.  A NOT
EXISTS is an anti-join with it; one with something nested inside becomes a relation of its
own, the candidates carried inwards.  An aggregate is a join with it, grouped by candidate.
Every table is limited to the rows visible at c and to the audiences of the filter's owner.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tapestry.plan.group import ConstantRow
from tapestry.plan.lowering.aggregates import AggregateLowering
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import (
    add_table,
    at_c,
    candidate_key,
    free_columns,
    select_from,
    slots,
    stands_in,
)
from tapestry.plan.lowering.key_lookup import BoundViews
from tapestry.plan.lowering.scope import Scope, column, column_alias
from tapestry.plan.lowering.top_k import TopKLowering, same_place
from tapestry.query.tree.nodes import Binding, Column, Now
from tapestry.rewrite.stages import Conjunction, TopKTest


class NestedLowering:
    """Lowers for the constant rows of one group, into one assembly."""

    def __init__(self, assembly: Assembly, constant_rows: Sequence[ConstantRow]) -> None:
        self.assembly = assembly
        self.constant_rows = constant_rows
        self.bound_views = BoundViews(assembly)
        self.aggregates = AggregateLowering(assembly, constant_rows, self)
        self.top_k = TopKLowering(assembly, constant_rows, self.aggregates)

    def elsewhere(self, assembly: Assembly) -> NestedLowering:
        """Return what lowers for the same constant rows into another assembly."""
        return NestedLowering(assembly, self.constant_rows)

    def conditions(self, part: Conjunction, scope: Scope) -> list[exp.Expr]:
        """Return the tests of what is nested in a conjunction, for a relation of candidates."""
        tests = [self._absent(inner, scope) for inner in part.not_exists]
        tests += [self.aggregates.measured(measured, scope) for measured in part.having_tests]
        return tests + [
            self.top_k.contains(top, scope)
            for top in part.top_k_tests
            if not _joined(top, part.bindings)
        ]

    def join(self, select: exp.Select, part: Conjunction, outer: Scope) -> exp.Select:
        """Add a conjunction's tables and its own conditions, at the outer relation's c."""
        scope = outer.binding(*(b.var for b in part.bindings))
        tables = self.bound_views.tables(part.bindings, part.plain)
        for binding, table in zip(part.bindings, tables, strict=True):
            select = add_table(select, table)
            ts = column(binding.var, "ts")
            visible_at = exp.LTE(this=ts, expression=scope.term(Now()))
            select = select.where(self.visible(binding, scope), visible_at, copy=False)
        for top in part.top_k_tests:
            if _joined(top, part.bindings):
                name = self.top_k.at_each(top, outer)
                select = add_table(select, exp.to_table(name))
                select = select.where(*same_place(name, top, scope), copy=False)
        conditions = [scope.condition(c) for c in (*part.plain, *part.temporal_predicates)]
        return select.where(*conditions, copy=False) if conditions else select

    def project(
        self,
        select: exp.Select,
        scope: Scope,
        columns: set[tuple[str, str]],
        parameters: set[int],
        c: exp.Expr,
    ) -> exp.Select:
        """Have a SELECT give a relation of candidates with these columns and constants."""
        columns_ = [scope.outer_column(name) for name in ("filter_id", "disjunct", "audiences")]
        columns_ += [scope.outer_column(f"p{slot}") for slot in sorted(parameters)]
        for var, name in sorted(columns):
            value = scope.term(Column(var, name))
            columns_.append(exp.alias_(value, column_alias(var, name), quoted=True, copy=False))
        return select.select(*columns_, exp.alias_(c.copy(), "c", copy=False), copy=False)

    def visible(self, binding: Binding, scope: Scope) -> exp.Expr:
        """Return the test that the filter's owner may see a row."""
        audience = column(binding.var, "audience")
        return exp.Anonymous(
            this="visible", expressions=[scope.outer_column("audiences"), audience]
        )

    def _absent(self, part: Conjunction, outer: Scope) -> exp.Expr:
        """Return NOT EXISTS of a conjunction for a relation of candidates."""
        if not part.nested:
            inner = self.join(exp.select(exp.convert(1), copy=False), part, outer)
            return exp.not_(exp.Exists(this=inner), copy=False)
        free = free_columns((part,))
        rows = self.join(exp.select().from_(exp.to_table(outer.outer), copy=False), part, outer)
        wanted = free | free_columns(part.nested)
        scope = outer.binding(*(b.var for b in part.bindings))
        rows = self.project(rows, scope, wanted, slots(part.nested), exp.column("c", outer.outer))
        name = self.assembly.name(rows.distinct(copy=False))
        left = select_from(name, candidate_key(free)).distinct(copy=False)
        left = left.where(*self.conditions(part, at_c(name)), copy=False)
        return exp.not_(stands_in(self.assembly.name(left), candidate_key(free), outer), copy=False)


def _joined(top: TopKTest, bindings: tuple[Binding, ...]) -> bool:
    """Tell whether a rank can be joined: it finds the message that the conjunction binds."""
    return not top.negated and any(binding.var == top.message.var for binding in bindings)
