"""Join a table of which a SELECT gives nothing as a semi-join: one row that passes is enough.

Its rows would multiply those of the others, up to DISTINCT: five messages of a sender in a row are
as many rows as there are such fives.  Spark joins by hashes, and best as the statement says.

    FROM m, x, y WHERE m = x AND x < y AND …  ─>  FROM m WHERE EXISTS (FROM x, y WHERE m = x AND …)

Tables that an equality ties to two others stay: without them these would be a product.  Law:
DISTINCT rows are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from tapestry.plan import sql


def semi_joined(select: exp.Select) -> exp.Select:
    """Return a SELECT DISTINCT in which EXISTS tests the tables of which it gives nothing.

    It is changed in place.
    """
    joins = {join.this.alias_or_name: join for join in select.args.get("joins", ())}
    is_bare = any(not column.table for column in select.find_all(exp.Column))
    is_other = select.args.get("group") or any(join.args.get("on") for join in joins.values())
    if is_bare or is_other or select.is_star:
        return select
    spare = joins.keys() - _tables(*select.expressions)
    where = select.args.get("where")
    if not spare or where is None:
        return select
    tests = [(test, _tables(test) & joins.keys()) for test in _conjuncts(where.this)]
    groups = [
        group
        for group in _connected(spare, [names & spare for _, names in tests])
        if len(_tied(group, tests)) <= 1
    ]
    if not groups:
        return select
    moved = set[str]().union(*groups)
    select.set("joins", [join for name, join in joins.items() if name not in moved])
    select.set("where", None)
    sql.where(select, *(test for test, names in tests if not names & moved))
    for group in groups:
        inner = sql.select(sql.literal(1))
        for name in joins:
            if name in group:
                sql.cross_join(inner, joins[name].this)
        sql.where(inner, *(test for test, names in tests if names & group))
        sql.where(select, sql.exists(inner))
    return select


def _conjuncts(test: exp.Expr) -> Iterator[exp.Expr]:
    inner = test.unnest()
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.left)
        yield from _conjuncts(inner.right)
    else:
        yield test


def _tables(*nodes: exp.Expr) -> set[str]:
    return {column.table for node in nodes for column in node.find_all(exp.Column)}


def _connected(names: Collection[str], links: Collection[set[str]]) -> list[set[str]]:
    """Return tables in groups: two that are in one link are in one group."""
    groups: list[set[str]] = []
    for link in [{name} for name in sorted(names)] + [link for link in links if link]:
        joined = link.union(*(group for group in groups if group & link))
        groups = [group for group in groups if not group & link] + [joined]
    return groups


def _tied(group: set[str], tests: Collection[tuple[exp.Expr, set[str]]]) -> set[str]:
    """Return the other tables to which an equality ties a group."""
    ties = (names for test, names in tests if names & group and not _is_range(test))
    return set[str]().union(*ties) - group


def _is_range(test: exp.Expr) -> bool:
    return isinstance(test.unnest(), exp.GT | exp.GTE | exp.LT | exp.LTE | exp.NEQ)
