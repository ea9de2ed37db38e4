"""Print a statement in Spark's SQL: the language's own tests become Spark functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from tapestry.plan.relation import Statement

NOT_A_WORD = r"[^\p{L}\p{N}]+"


def spark_sql(statement: Statement, names: Mapping[str, str]) -> str:
    """Return the statement's SQL; ``names`` maps its views and relations to temporary views."""
    return statement.select.transform(_to_spark, names).sql(dialect="spark")


def _to_spark(node: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    if isinstance(node, exp.Table) and node.name in names:
        renamed = exp.to_table(names[node.name])
        kept = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
        renamed.set("alias", kept)
        return renamed
    if isinstance(node, exp.Anonymous) and node.name in FUNCTIONS:
        return FUNCTIONS[node.name](*(arg.transform(_to_spark, names) for arg in node.expressions))
    return node


def _call(name: str, *args: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(args))


def _like(value: exp.Expr, pattern: exp.Expr) -> exp.Expr:
    return exp.ILike(this=value, expression=pattern)


def _words(value: exp.Expr) -> exp.Expr:
    """Return a text's words in lower case, a blank before and after each."""
    blank = exp.Literal.string(" ")
    spaced = _call("regexp_replace", value, exp.Literal.string(NOT_A_WORD), blank)
    return _call("concat", blank.copy(), _call("trim", _call("lower", spaced)), blank.copy())


def _has(value: exp.Expr, words: exp.Expr) -> exp.Expr:
    return _call("contains", _words(value), _words(words))


def _some(test: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> Callable[..., exp.Expr]:
    """Return the function of (set, value) that tells whether some element passes the test."""

    def some(elements: exp.Expr, value: exp.Expr) -> exp.Expr:
        body = test(exp.column("element"), value)
        element = exp.Lambda(this=body, expressions=[exp.to_identifier("element")])
        return _call("exists", elements, element)

    return some


def _compare(kind: type[exp.Binary]) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    return lambda element, value: kind(this=element, expression=value)


def _among(value: exp.Expr, values: exp.Expr) -> exp.Expr:
    return _call("array_contains", values, value)


def _visible(audiences: exp.Expr, audience: exp.Expr) -> exp.Expr:
    return _call("array_contains", audiences, audience)


FUNCTIONS: dict[str, Callable[..., exp.Expr]] = {
    "visible": _visible,
    "text_like": _like,
    "text_has": _has,
    "value_in": _among,
    "set_like": _some(_like),
    "set_has": _some(_has),
    "set_in": _some(_among),
    "set_eq": _some(_compare(exp.EQ)),
    "set_ne": _some(_compare(exp.NEQ)),
    "set_lt": _some(_compare(exp.LT)),
    "set_le": _some(_compare(exp.LTE)),
    "set_gt": _some(_compare(exp.GT)),
    "set_ge": _some(_compare(exp.GTE)),
    "text_lower": lambda value: _call("lower", value),
    "text_upper": lambda value: _call("upper", value),
    "text_length": lambda value: _call("length", value),
    "text_trim": lambda value: _call("trim", value),
    "text_substr": lambda *args: _call("substr", *args),
    "text_coalesce": lambda *args: _call("coalesce", *args),
}
"""What ``plan.scope`` leaves to the engine, in Spark."""
