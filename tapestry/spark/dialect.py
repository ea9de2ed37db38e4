"""Print a statement in Spark's SQL: the language's own tests become Spark functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from tapestry.plan import sql
from tapestry.plan.relation import Statement
from tapestry.plan.text_predicates import spark_has, spark_like

Test = Callable[[exp.Expr, exp.Expr], exp.Expr]
"""The test of a value by another expression."""


def spark_sql(statement: Statement, names: Mapping[str, str]) -> str:
    """Return the statement's SQL; ``names`` maps its views and relations to temporary views."""
    own = statement.select.transform(_to_spark, names)
    return own.sql(dialect="spark", copy=False)


def _to_spark(node: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    if isinstance(node, exp.Table) and node.name in names:
        renamed = exp.to_table(names[node.name])
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
        renamed.set("alias", alias)
        return renamed
    if isinstance(node, exp.Anonymous) and node.name in FUNCTIONS:
        return FUNCTIONS[node.name](*(arg.transform(_to_spark, names) for arg in node.expressions))
    return node


def _elements(value: exp.Expr) -> exp.Expr:
    """Return a row for each distinct element of a set."""
    return sql.call("explode", sql.call("array_distinct", value))


def _in(value: exp.Expr, values: exp.Expr) -> exp.Expr:
    return sql.call("array_contains", values, value)


def _any_element(test: Test, elements: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return whether an element of a set passes the test."""
    body = test(exp.column("element"), value)
    element = exp.Lambda(this=body, expressions=[exp.to_identifier("element")])
    return sql.call("exists", elements, element)


TESTS: dict[str, Test] = {"matches": spark_like, "has": spark_has, "in": _in}
TESTS |= {name: sql.COMPARISONS[op] for op, name in sql.NAMES.items()}

FUNCTIONS: dict[str, Callable[..., exp.Expr]] = {
    "visible": partial(sql.call, "array_contains"),
    "elements": _elements,
    "text_matches": spark_like,
    "text_has": spark_has,
    "value_in": _in,
}
FUNCTIONS |= {f"set_{name}": partial(_any_element, test) for name, test in TESTS.items()}
FUNCTIONS |= {
    f"text_{name}": partial(sql.call, name)
    for name in ("lower", "upper", "length", "trim", "substr", "coalesce")
}
"""What ``plan.lowering.scope`` leaves to the engine, in Spark."""
