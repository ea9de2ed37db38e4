"""What a relation of candidates carries, and SELECTs of it.

Candidates are a relation ``(filter_id, disjunct, audiences, c, constants …, columns …)``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from tapestry.core.schema import KEY_COLUMN
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.query.tree.nodes import Binding, Column, Literal, Values
from tapestry.query.tree.walk import walk
from tapestry.rewrite.stages import Conjunction, HavingTest, TopKTest

CANDIDATE_KEY = ("filter_id", "disjunct", "c")
"""What a candidate is known by, beside the columns that are carried with it."""

Subquery = Conjunction | HavingTest | TopKTest


def add_table(select: exp.Select, table: exp.Expr) -> exp.Select:
    """Add a table to a SELECT's FROM."""
    if select.args.get("from_"):
        return select.join(table, join_type="cross", copy=False)
    return select.from_(table, copy=False)


def select_from(name: str, columns: Collection[str]) -> exp.Select:
    """Return a SELECT of some columns of a relation."""
    found = [exp.column(column, name, quoted=True) for column in columns]
    return exp.select(*found, copy=False).from_(exp.to_table(name), copy=False)


def at_c(name: str) -> Scope:
    """Return the scope in which a relation's columns are read, ``now()`` being its c."""
    return Scope(name, now=exp.column("c", name))


def candidate_key(free: set[tuple[str, str]]) -> list[str]:
    """Return the columns by which a candidate with these columns is known."""
    return [*CANDIDATE_KEY, *sorted(column_alias(*one) for one in free)]


def stands_in(name: str, keys: Sequence[str], outer: Scope, *tests: exp.Expr) -> exp.Expr:
    """Return whether a candidate stands in a relation of its keys, and passes the tests."""
    same = [
        exp.NullSafeEQ(
            this=exp.column(key, name, quoted=True),
            expression=exp.column(key, outer.outer, quoted=True),
        )
        for key in keys
    ]
    one = exp.select(exp.convert(1), copy=False).from_(exp.to_table(name), copy=False)
    return exp.Exists(this=one.where(*same, *tests, copy=False))


def identity(bindings: Sequence[Binding]) -> set[tuple[str, str]]:
    """Return the (variable, column) pairs that tell the rows of some bindings apart."""
    keys = {(b.var, KEY_COLUMN[b.table]) for b in bindings}
    return keys | {(b.var, "audience") for b in bindings}


def free_columns(parts: Collection[Subquery]) -> set[tuple[str, str]]:
    """Return the (variable, column) pairs that some parts read and do not themselves bind."""
    found: set[tuple[str, str]] = set()
    for part in parts:
        match part:
            case Conjunction():
                own = {binding.var for binding in part.bindings}
                read = _columns((part.plain, part.temporal_predicates)) | free_columns(part.nested)
            case HavingTest(aggregate=total):
                own = {binding.var for binding in total.bindings}
                read = _columns(total.term) | free_columns(total.rows)
            case TopKTest():
                own = {part.binding.var, *(binding.var for binding in part.aggregate.bindings)}
                read = _columns((part.message, part.aggregate.term))
                read |= free_columns(part.aggregate.rows) | free_columns(part.among)
        found |= {(var, name) for var, name in read if var not in own}
    return found


def _columns(tree: object) -> set[tuple[str, str]]:
    return {(n.var, n.name) for n in walk(tree) if isinstance(n, Column)}


def slots(tree: object) -> set[int]:
    """Return the slots of the constants a tree reads."""
    return {
        node.slot
        for node in walk(tree)
        if isinstance(node, Literal | Values) and node.slot is not None
    }
