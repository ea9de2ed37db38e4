"""Print a statement in Spark's SQL: the language's own tests become Spark functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from tapestry.plan import sql
from tapestry.plan.relation import Statement

NOT_A_WORD = r"[^\p{L}\p{N}]+"

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


def _matches(value: exp.Expr, regex: exp.Expr) -> exp.Expr:
    """Search the text, in lower case, for the regular expression of a LIKE (``like_regex``)."""
    return exp.RegexpLike(this=sql.call("lower", value), expression=regex)


def _elements(value: exp.Expr) -> exp.Expr:
    """Return a row for each distinct element of a set."""
    return sql.call("explode", sql.call("array_distinct", value))


def _words(value: exp.Expr) -> exp.Expr:
    """Return a text's words in lower case, a blank before and after each."""
    blank = sql.literal(" ")
    spaced = sql.call("regexp_replace", value, sql.literal(NOT_A_WORD), blank)
    trimmed = sql.call("trim", sql.call("lower", spaced))
    return sql.call("concat", blank.copy(), trimmed, blank.copy())


def _has(value: exp.Expr, words: exp.Expr) -> exp.Expr:
    """Return whether a text has some words; it is split only where it may have the first of them.

    To look for a piece of a word takes a tenth of the time of replacing what is no word.  It is
    of ASCII, whose lower case is the same whatever stands around it (that of a sigma is not).
    """
    lower = sql.call("lower", words.copy())
    piece = sql.call("regexp_extract", lower, sql.literal("[a-z0-9]+"), sql.literal(0))
    may = sql.call("contains", sql.call("lower", value.copy()), piece)
    return sql.paren(sql.all_of(may, sql.call("contains", _words(value), _words(words))))


def _in(value: exp.Expr, values: exp.Expr) -> exp.Expr:
    return sql.call("array_contains", values, value)


def _any_element(test: Test, elements: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return whether an element of a set passes the test."""
    body = test(exp.column("element"), value)
    element = exp.Lambda(this=body, expressions=[exp.to_identifier("element")])
    return sql.call("exists", elements, element)


COMPARISONS = {"eq": sql.eq, "ne": sql.ne, "lt": sql.lt, "le": sql.le, "gt": sql.gt, "ge": sql.ge}
TESTS: dict[str, Test] = {"matches": _matches, "has": _has, "in": _in} | COMPARISONS

FUNCTIONS: dict[str, Callable[..., exp.Expr]] = {
    "visible": partial(sql.call, "array_contains"),
    "elements": _elements,
    "text_matches": _matches,
    "text_has": _has,
    "value_in": _in,
}
FUNCTIONS |= {f"set_{name}": partial(_any_element, test) for name, test in TESTS.items()}
FUNCTIONS |= {
    f"text_{name}": partial(sql.call, name)
    for name in ("lower", "upper", "length", "trim", "substr", "coalesce")
}
"""What ``plan.lowering.scope`` leaves to the engine, in Spark."""
