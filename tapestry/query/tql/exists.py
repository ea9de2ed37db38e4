"""Parse ranges over rows: EXISTS (r: …), and the variables it binds."""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.query.check.scope import table_named, variable_named
from tapestry.query.tql import select
from tapestry.query.tql.expressions import Parser
from tapestry.query.tree.identifiers import RESERVED
from tapestry.query.tree.nodes import Binding, Condition, Exists


def exists(parser: Parser) -> Condition:
    """Read EXISTS and its parentheses, in the short form or the long one."""
    start = parser.take().start
    parser.expect("(", "“(”")
    parser.enter()
    if select.starts(parser):
        condition = select.exists(parser, start)
    else:
        bound = bindings(parser)
        parser.scopes.append({binding.var for binding in bound})
        condition = Exists(bound, parser.condition())
        parser.scopes.pop()
    parser.expect(")")
    parser.depth -= 1
    return (
        replace(condition, span=parser.since(start)) if isinstance(condition, Exists) else condition
    )


def bindings(parser: Parser, end: str = ":") -> tuple[Binding, ...]:
    """Read ``r, a IN annotations:``, the colon too, or what else ends them."""
    bindings: dict[str, Binding] = {}
    while True:
        token = parser.token
        if not token.is_name or token.word in RESERVED:
            raise parser.unexpected("a variable", "Write EXISTS (r: r.inreplyto = m.msgid).")
        parser.take()
        table = MESSAGES
        if parser.accept("IN"):
            table = table_of(parser)
        if token.value.lower() in bindings:
            raise TapestryError(
                f"The variable “{token.value}” stands here twice.",
                token.span,
                "Give one another name.",
            )
        name = variable_named(token.value, token.span)
        bindings[name] = Binding(name, table, span=token.span)
        if not parser.accept(","):
            break
    parser.expect(end, f"“{end}” and a condition")
    return tuple(bindings.values())


def table_of(parser: Parser) -> str:
    """Read the name of a table."""
    if not parser.token.is_name:
        raise parser.unexpected("“messages” or “annotations”")
    token = parser.take()
    return table_named(token.value, token.span)
