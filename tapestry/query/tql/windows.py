"""Parse windows of so many messages: m IN LAST 50 PER m.sender AMONG m.size > 1."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.core.schema import MESSAGES
from tapestry.query.check.scope import variable_named
from tapestry.query.tql import group_by
from tapestry.query.tql.expressions import NOT, Parser
from tapestry.query.tree import nodes as n

_WORDS = ("PER", "AMONG")
_EXAMPLE = "Write m IN LAST 10 PER m.sender AMONG m.newsgroups = 'comp.databases'."


def starts(parser: Parser) -> bool:
    """Return whether a window comes next, not the name of a filter."""
    after = parser.after
    return parser.token.word in ("LAST", "FIRST") and (after.kind == "number" or after.word == "-")


def window(parser: Parser, left: n.Column, at: int) -> n.Window:
    """Read ``LAST 50 [x] [PER x.sender, …] [AMONG …]``; AMONG takes one test, or parentheses.

    Inside, a message of the window is called as the one that is tested, or else ``x``.
    """
    last = parser.take().word == "LAST"
    limit = group_by.limit(parser, "A window")
    name = left.var.lower()
    if parser.token.is_name and parser.token.word not in _WORDS:
        token = parser.token
        if parser.visible(token.value) or parser.after.word in _WORDS:
            name = variable_named(parser.take().value, token.span)
    scopes, parser.scopes = parser.scopes, [{name}]  # nothing around it is known inside it
    per = tuple(parser.listed(lambda: _column(parser))) if parser.accept("PER") else ()
    if not per and not last:
        message = "The first messages of all were long ago."
        hint = "Say of what: m IN FIRST 3 PER m.inreplyto."
        raise TapestryError(message, parser.since(at), hint)
    among: n.Condition = n.Truth(True)
    if parser.accept("AMONG"):
        among = parser.condition(NOT)
    parser.scopes = scopes
    span = parser.since(at)
    return n.Window(left, last, limit, n.Binding(name, MESSAGES), per, among, span=span)


def _column(parser: Parser) -> n.Column:
    start = parser.token
    term = parser.term()
    if not isinstance(term, n.Column):
        parser.at = parser.tokens.index(start)
        raise parser.unexpected("a column", _EXAMPLE)
    return term
