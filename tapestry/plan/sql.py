"""Builders of SQL nodes that neither copy nor parse: the one place where sqlglot is asked to.

A node has one parent, so ``node.copy()`` is used where it stands a second time.  A SELECT is
changed in place by ``add_columns``, ``cross_join`` and ``where``, which return it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

Comparison = Callable[[exp.Expr, exp.Expr], exp.Expr]


def _comparison(kind: type[exp.Binary]) -> Comparison:
    return lambda left, right: kind(this=left, expression=right)


eq = _comparison(exp.EQ)
ne = _comparison(exp.NEQ)
lt = _comparison(exp.LT)
le = _comparison(exp.LTE)
gt = _comparison(exp.GT)
ge = _comparison(exp.GTE)
null_safe_eq = _comparison(exp.NullSafeEQ)

COMPARISONS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
NAMES = {"=": "eq", "<>": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
"""Names of comparisons, for the functions ``set_…`` of (set, value) that each engine brings."""


def column(name: str, relation: str | None = None, *, quoted: bool | None = None) -> exp.Column:
    """Return a column, of a relation or of whatever has it."""
    return exp.Column(
        this=exp.to_identifier(name, quoted=quoted),
        table=exp.to_identifier(relation, quoted=quoted),
    )


def table(name: str, alias: str | None = None, *, quoted: bool | None = None) -> exp.Table:
    """Return a table of FROM, perhaps under an alias."""
    shown = None if alias is None else exp.TableAlias(this=exp.to_identifier(alias, quoted=quoted))
    return exp.Table(this=exp.to_identifier(name), alias=shown)


def literal(value: object) -> exp.Expr:
    """Return a constant: a number, a text, or NULL for None."""
    return exp.convert(value)


def alias(node: exp.Expr, name: str, *, quoted: bool | None = None) -> exp.Expr:
    """Return ``node AS name``."""
    return exp.alias_(node, name, quoted=quoted, copy=False)


def same(keys: Iterable[str], left: str, right: str) -> list[exp.Expr]:
    """Return the tests that rows of two relations are equal in some columns."""
    return [eq(column(key, left), column(key, right)) for key in keys]


def is_null(node: exp.Expr) -> exp.Expr:
    """Return ``node IS NULL``."""
    return exp.Is(this=node, expression=exp.null())


def cast(node: exp.Expr, kind: str) -> exp.Expr:
    """Return a node as a value of an SQL type."""
    return exp.cast(node, kind, copy=False)


def all_of(*tests: exp.Expr) -> exp.Expr:
    """Return the AND of one test or more.

    >>> all_of(eq(column("a"), literal(1)), any_of(column("b"), column("c"))).sql()
    'a = 1 AND (b OR c)'
    """
    return exp.and_(*tests, copy=False)


def any_of(*tests: exp.Expr) -> exp.Expr:
    """Return the OR of one test or more."""
    return exp.or_(*tests, copy=False)


def negate(test: exp.Expr) -> exp.Expr:
    """Return NOT of a test."""
    return exp.not_(test, copy=False)


def paren(node: exp.Expr) -> exp.Expr:
    """Return a node in parentheses."""
    return exp.Paren(this=node)


def call(name: str, *args: exp.Expr) -> exp.Expr:
    """Return a call of a function that sqlglot does not know."""
    return exp.Anonymous(this=name, expressions=list(args))


def ordered(name: str, *, descending: bool = False, nulls_first: bool = True) -> exp.Expr:
    """Return a column to order by."""
    return exp.Ordered(this=column(name), desc=descending or None, nulls_first=nulls_first)


def window(
    function: exp.Expr,
    partition: Sequence[str],
    *order: exp.Expr,
    quoted: bool | None = None,
    before: bool = False,
) -> exp.Expr:
    """Return a window function over the rows alike in some columns; ``before``, those before it.

    >>> window(exp.RowNumber(), ["a"], ordered("b", descending=True), ordered("c")).sql()
    'ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC NULLS FIRST, c)'
    """
    return exp.Window(
        this=function,
        partition_by=[column(name, quoted=quoted) for name in partition],
        order=exp.Order(expressions=list(order)) if order else None,
        spec=_BEFORE.copy() if before else None,
    )


_BEFORE = exp.WindowSpec(
    kind="ROWS",
    start="UNBOUNDED",
    start_side="PRECEDING",
    end=exp.Literal.number(1),
    end_side="PRECEDING",
)


def select(*columns: exp.Expr, source: exp.Expr | None = None) -> exp.Select:
    """Return a SELECT, from a table or a subquery.

    >>> where(select(column("a"), source=table("t")), gt(column("a"), literal(1))).sql()
    'SELECT a FROM t WHERE a > 1'
    """
    made = exp.Select(expressions=list(columns))
    if source is not None:
        made.set("from_", exp.From(this=source))
    return made


def select_from(
    name: str, columns: Iterable[str], *more: exp.Expr, **named: exp.Expr
) -> exp.Select:
    """Return a SELECT of columns of a relation, of more, and of those that are named."""
    selected = (column(key, name, quoted=True) for key in columns)
    aliased = (alias(node, key) for key, node in named.items())
    return select(*selected, *more, *aliased, source=table(name))


def add_columns(query: exp.Select, *columns: exp.Expr) -> exp.Select:
    """Have a SELECT give more columns."""
    for node in columns:
        query.append("expressions", node)
    return query


def cross_join(query: exp.Select, source: exp.Expr) -> exp.Select:
    """Add a table to a SELECT, as its FROM where it has none."""
    if query.args.get("from_"):
        query.append("joins", exp.Join(this=source, kind="CROSS"))
    else:
        query.set("from_", exp.From(this=source))
    return query


def left_join(query: exp.Select, source: exp.Expr, on: exp.Expr) -> exp.Select:
    """Add a table to a SELECT, with a row of NULLs where none passes the test."""
    query.append("joins", exp.Join(this=source, side="LEFT", on=on))
    return query


def where(query: exp.Select, *tests: exp.Expr) -> exp.Select:
    """Add tests to the WHERE of a SELECT."""
    return query.where(*tests, copy=False) if tests else query


def distinct(query: exp.Select) -> exp.Select:
    """Have a SELECT give each row once."""
    query.set("distinct", exp.Distinct())
    return query


def group_by(query: exp.Select, *keys: exp.Expr) -> exp.Select:
    """Group the rows of a SELECT."""
    query.set("group", exp.Group(expressions=list(keys)))
    return query


def having(query: exp.Select, test: exp.Expr) -> exp.Select:
    """Limit the groups of a SELECT."""
    query.set("having", exp.Having(this=test))
    return query


def union(queries: Sequence[exp.Query], *, distinct: bool = False) -> exp.Query:
    """Return the rows of all queries, of which there is one at least; ``distinct``, each once."""
    rows = queries[0]
    for query in queries[1:]:
        rows = exp.Union(this=rows, expression=query, distinct=distinct)
    return rows


def subquery(query: exp.Query, name: str) -> exp.Expr:
    """Return a query as a table of FROM."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(name)))


def exists(query: exp.Select) -> exp.Expr:
    """Return EXISTS of a query."""
    return exp.Exists(this=query)
