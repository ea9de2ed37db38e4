"""Joins by the elements of a set: ``r.references = m.msgid`` as an equi-join.

It holds if some element of the set equals the other column.  Tested on pairs of rows, that is a
nested-loop join; so the relation that has the set is unnested, a row for each element, and joined
by equality.  Law: elements are distinct, so that rows are joined as often as before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from tapestry.core.schema import Type
from tapestry.plan import sql
from tapestry.plan.lowering.assembly import Assembly
from tapestry.plan.lowering.scope import Scope, column_alias
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import equalities

SetTie = tuple[n.Column, n.Column]
"""A column that is a set, and one of another variable that equals some element of it."""


def set_ties(plain: Sequence[n.Condition]) -> Iterator[SetTie]:
    """Yield the ties of variables that only a set ties, one for each variable that has a set.

    >>> from tapestry.rewrite.examples import conjunction
    >>> text = "EXISTS (r: r.references = m.msgid AND r.newsgroups = m.list)"
    >>> [set_column.name for set_column, _ in set_ties(conjunction(text).plain)]
    ['references']
    """
    pairs = [(here, there) for here, there in equalities(plain) if here.var != there.var]
    tied = {(here.var, there.var) for here, there in pairs if there.type is not Type.SET}
    seen: set[str] = set()
    for other, column in pairs:
        is_only_tie = (other.var, column.var) not in tied and column.var not in seen
        if column.type is Type.SET and is_only_tie:
            seen.add(column.var)
            yield column, other


def outer_tie(plain: Sequence[n.Condition], bound: Collection[str]) -> SetTie | None:
    """Return the tie of a set that an outer relation has and a variable that is bound, if any."""
    ties = (tie for tie in set_ties(plain) if tie[0].var not in bound and tie[1].var in bound)
    return next(ties, None)


def unnest_outer(
    assembly: Assembly, plain: Sequence[n.Condition], bound: Collection[str], outer: Scope
) -> tuple[Scope, list[exp.Expr]]:
    """Return the scope of an outer relation, unnested where its set ties a variable that is bound.

    And the equality by which the variable is then joined.
    """
    tie = outer_tie(plain, bound)
    if tie is None:
        return outer, []
    column, other = tie
    alias = column_alias(column.var, column.name)
    name = assembly.name(unnested(outer.outer, alias))
    now = None if outer.now is None else sql.column("c", name)
    outer = replace(outer, outer=name, now=now)
    return outer, [sql.eq(outer.outer_column(element(alias)), outer.binding(*bound).term(other))]


def element(name: str) -> str:
    """Return the column of an unnested relation that has the elements of a column."""
    return f"{name}_element"


def unnested(relation: str, name: str) -> exp.Select:
    """Return the rows of a relation, each once for each element of its set ``name``."""
    elements = sql.call("elements", sql.column(name, quoted=True))
    named = sql.alias(elements, element(name), quoted=True)
    return sql.select(exp.Star(), named, source=sql.table(relation))
