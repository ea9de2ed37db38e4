"""Columns of a relation of candidates, and the joins with it.

Candidates are a relation ``(filter_id, disjunct, audiences, c, constants …, columns …)``: the
rows of a filter's own SELECT, with all that what is nested in it must know of them.  EXISTS is a
semi-join with it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from sqlglot import exp

from tapestry.core.schema import KEY_COLUMN
from tapestry.plan import sql
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.key_lookup import BoundViews
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, HavingTest, TopKTest

CANDIDATE_KEY = ("filter_id", "disjunct", "c")
"""The key of a candidate, beside the columns of the variables that it binds."""

VariableColumn = tuple[str, str]
"""A variable and a column of its table."""

Subquery = Conjunction | HavingTest | TopKTest


class CandidateJoins(Protocol):
    """Joins for one group, into one assembly: ``nested.NestedLowering``."""

    bound_views: BoundViews

    def elsewhere(self, assembly: Assembly) -> CandidateJoins: ...

    def visible(self, binding: n.Binding, scope: Scope) -> exp.Expr: ...

    def joined(self, part: Conjunction, outer: Scope) -> tuple[exp.Select, Scope]: ...

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


def at_c(name: str) -> Scope:
    """Return the scope in which a relation's columns are read, ``now()`` being its c."""
    return Scope(name, now=sql.column("c", name))


def candidate_key(free: Collection[VariableColumn]) -> list[str]:
    """Return the columns by which a candidate with these columns is known.

    >>> candidate_key({("m", "msgid")})
    ['filter_id', 'disjunct', 'c', 'm__msgid']
    """
    return [*CANDIDATE_KEY, *sorted(column_alias(var, name) for var, name in free)]


def semi_join(name: str, keys: Sequence[str], outer: Scope, *tests: exp.Expr) -> exp.Expr:
    """Return whether a candidate stands in a relation of its keys, and passes the tests."""
    pairs = ((sql.column(key, side, quoted=True) for side in (name, outer.outer)) for key in keys)
    same = (sql.null_safe_eq(*pair) for pair in pairs)
    rows = sql.select(sql.literal(1), source=sql.table(name))
    return sql.exists(sql.where(rows, *same, *tests))


def row_identity(bindings: Sequence[n.Binding]) -> set[VariableColumn]:
    """Return the columns that identify the rows of bindings: their keys and audiences."""
    return {*map(key_of, bindings), *((binding.var, "audience") for binding in bindings)}


def key_of(binding: n.Binding) -> VariableColumn:
    """Return the column that names the rows of a binding."""
    return binding.var, KEY_COLUMN[binding.table]


def free_columns(subqueries: Collection[Subquery]) -> set[VariableColumn]:
    """Return the columns that subqueries read of variables which they do not bind themselves."""
    free: set[VariableColumn] = set()
    for subquery in subqueries:
        match subquery:
            case Conjunction(bindings=bindings):
                own = {binding.var for binding in bindings}
                read = columns_of((subquery.plain, subquery.temporal_predicates))
                read |= free_columns(subquery.nested)
            case HavingTest(aggregate=aggregate):
                own = {binding.var for binding in aggregate.bindings}
                read = columns_of((aggregate.term, aggregate.among or ()))
                read |= free_columns(aggregate.rows)
            case TopKTest(aggregate=aggregate):
                own = {binding.var for binding in (subquery.binding, *aggregate.bindings)}
                read = columns_of((subquery.message, aggregate.term))
                read |= free_columns(aggregate.rows) | free_columns(subquery.among)
        free |= {(var, name) for var, name in read if var not in own}
    return free


def columns_of(tree: object) -> set[VariableColumn]:
    """Return the columns that a tree reads, those of its own variables among them."""
    return {(node.var, node.name) for node in walk(tree) if isinstance(node, n.Column)}


def slots(tree: object) -> set[int]:
    """Return the slots of the constants a tree reads."""
    return {
        node.slot
        for node in walk(tree)
        if isinstance(node, n.Literal | n.Values) and node.slot is not None
    }
