"""Print a statement in SQLite's SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.generators.sqlite import SQLiteGenerator

from tapestry.embedded.semi_joins import semi_joined
from tapestry.plan.relation import Statement


class _Plain(SQLiteGenerator):
    """SQL in which all joins are plain: SQLite does not reorder CROSS JOIN."""

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        text: str = super().join_sql(expression, join_op)
        return text.replace("CROSS ", "", 1) if expression.kind == "CROSS" else text


def sqlite_sql(statement: Statement) -> str:
    """Return the statement's SQL; it calls the functions of ``embedded.functions``."""
    text: str = _Plain(dialect="sqlite").generate(statement.select, copy=False)
    multiplies = any(_joins_many(part) for part in text.split("SELECT DISTINCT ")[1:])
    if "elements(" not in text.lower() and not multiplies:
        return text  # nothing is copied: it is most of the work
    select = statement.select.copy()
    for part in list(select.find_all(exp.Select)) if multiplies else ():
        if part.args.get("distinct"):
            semi_joined(part)
    for node in list(select.find_all(exp.Anonymous)):
        if node.name == "elements":
            _read_elements(node)
    return str(_Plain(dialect="sqlite").generate(select, copy=False))


def _joins_many(text: str) -> bool:
    """Tell whether a SELECT, of which this is the text, joins a message with two tables or more."""
    return text.partition(" WHERE ")[0].count(" JOIN ") > 2


def _read_elements(node: exp.Anonymous) -> None:
    """Read the elements of a set from ``json_each``, as SQLite has them."""
    column = node.expressions[0].copy()
    each = exp.Anonymous(this="json_each", expressions=[exp.func("distinct_elements", column)])
    source = exp.Table(this=each, alias=exp.TableAlias(this=exp.to_identifier("elements")))
    select = node.find_ancestor(exp.Select)
    assert select is not None  # an element is a column of one
    select.append("joins", exp.Join(this=source))
    node.replace(exp.column("value", "elements"))
