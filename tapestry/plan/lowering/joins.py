"""How tables are joined to candidates, as aggregates and top-k ask for it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from sqlglot import exp

from tapestry.plan.lowering import sql
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.columns import VariableColumn
from tapestry.plan.lowering.key_lookup import BoundViews
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.query.tree import nodes as n
from tapestry.rewrite.stages import Conjunction


class CandidateJoins(Protocol):
    """Joins for one group, into one assembly: ``nested.NestedLowering``."""

    bound_views: BoundViews

    def elsewhere(self, assembly: Assembly) -> CandidateJoins: ...

    def visible(self, binding: n.Binding, scope: Scope) -> exp.Expr: ...

    def join(self, select: exp.Select, part: Conjunction, outer: Scope) -> exp.Select: ...

    def conditions(self, part: Conjunction, scope: Scope) -> list[exp.Expr]: ...


def project(
    select: exp.Select,
    scope: Scope,
    columns: Collection[VariableColumn],
    parameters: Collection[int],
    c: exp.Expr,
) -> exp.Select:
    """Have a SELECT give a relation of candidates with these columns and constants."""
    own = ["filter_id", "disjunct", "audiences", *(f"p{slot}" for slot in sorted(parameters))]
    values = (
        sql.alias(scope.term(n.Column(var, name)), column_alias(var, name), quoted=True)
        for var, name in sorted(columns)
    )
    return sql.add_columns(select, *map(scope.outer_column, own), *values, sql.alias(c.copy(), "c"))
