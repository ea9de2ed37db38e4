"""Lower the tests of other rows in a conjunction: joins, NOT EXISTS, aggregates and top-k.

EXISTS is a semi-join with the relation of candidates (``columns.py``), NOT EXISTS an anti-join
[OracleCQ07]; where a test is nested in it, it becomes a relation with the candidates' columns.  An
aggregate is a join with the candidates, grouped by candidate.  Every table is limited to the rows
visible at c and to the audiences of the filter's owner: row-level security, the access control of
rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tapestry.plan import sql
from tapestry.plan.group import ConstantRow
from tapestry.plan.lowering.aggregates import AggregateLowering
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import (
    at_c,
    candidate_key,
    free_columns,
    project,
    semi_join,
    slots,
)
from tapestry.plan.lowering.key_lookup import BoundViews
from tapestry.plan.lowering.scope import Scope, table_column
from tapestry.plan.lowering.set_join import outer_tie, unnest_outer
from tapestry.plan.lowering.top_k import TopKLowering
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import Conjunction, TopKTest


class NestedLowering:
    """Lowers for the constant rows of one group, into one assembly."""

    def __init__(self, assembly: Assembly, constant_rows: Sequence[ConstantRow]) -> None:
        self.assembly = assembly
        self.constant_rows = constant_rows
        self.bound_views = BoundViews(assembly, constant_rows)
        self.aggregates = AggregateLowering(assembly, constant_rows, self)
        self.top_k = TopKLowering(assembly, constant_rows, self.aggregates)

    def elsewhere(self, assembly: Assembly) -> NestedLowering:
        """Return the lowering of the same constant rows into another assembly."""
        return NestedLowering(assembly, self.constant_rows)

    def conditions(self, part: Conjunction, scope: Scope) -> list[exp.Expr]:
        """Return the tests nested in a conjunction, for a relation of candidates."""
        tests = [self._not_exists(inner, scope) for inner in part.not_exists]
        tests += [self.aggregates.having_test(test, scope) for test in part.having_tests]
        return tests + [
            self.top_k.contains(top, scope)
            for top in part.top_k_tests
            if not _joined(top, part.bindings)
        ]

    def join(
        self, select: exp.Select, part: Conjunction, outer: Scope, *, one_decides: bool = False
    ) -> exp.Select:
        """Add a conjunction's tables and its own conditions, at the outer relation's c.

        ``one_decides``: any one row is enough, and has no other test to meet.
        """
        scope = outer.binding(*(binding.var for binding in part.bindings))
        own = (*part.plain, *part.temporal_predicates)
        deciding = own if one_decides and len(part.bindings) == 1 else ()
        tables = self.bound_views.tables(part.bindings, part.plain, deciding=deciding)
        for binding, table in zip(part.bindings, tables, strict=True):
            arrived = sql.le(table_column(binding.var, "ts"), scope.term(n.Now()))
            sql.cross_join(select, table)
            sql.where(select, self.visible(binding, scope), arrived)
        sql.where(select, *self.bound_views.set_joins(part.bindings, scope))
        for top in part.top_k_tests:
            if _joined(top, part.bindings):
                name, same = self.top_k.on_top(top, outer, scope)
                sql.cross_join(select, sql.table(name))
                sql.where(select, *same)
        return sql.where(select, *map(scope.condition, own))

    def joined(self, part: Conjunction, outer: Scope) -> tuple[exp.Select, Scope]:
        """Return the outer relation joined with a conjunction, and the scope of its columns."""
        bound = {binding.var for binding in part.bindings}
        outer, same = unnest_outer(self.assembly, part.plain, bound, outer)
        select = self.join(sql.select(source=sql.table(outer.outer)), part, outer)
        return sql.where(select, *same), outer

    def visible(self, binding: n.Binding, scope: Scope) -> exp.Expr:
        """Return the test that the filter's owner may see a row."""
        audience = table_column(binding.var, "audience")
        return sql.call("visible", scope.outer_column("audiences"), audience)

    def _not_exists(self, part: Conjunction, outer: Scope) -> exp.Expr:
        bound = {binding.var for binding in part.bindings}
        if not part.nested and outer_tie(part.plain, bound) is None:
            rows = self.join(sql.select(sql.literal(1)), part, outer, one_decides=True)
            return sql.negate(sql.exists(rows))
        free = free_columns((part,))
        rows, inner = self.joined(part, outer)
        wanted = free | free_columns(part.nested)
        project(rows, inner.binding(*bound), wanted, slots(part.nested), inner.term(n.Now()))
        name = self.assembly.name(sql.distinct(rows))
        keys = candidate_key(free)
        passed = sql.distinct(sql.select_from(name, keys))
        sql.where(passed, *self.conditions(part, at_c(name)))
        return sql.negate(semi_join(self.assembly.name(passed), keys, outer))


def _joined(top: TopKTest, bindings: tuple[n.Binding, ...]) -> bool:
    """Tell whether a top-k can be joined: it finds the message that the conjunction binds."""
    return not top.negated and any(binding.var == top.message.var for binding in bindings)
