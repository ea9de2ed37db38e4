"""Parse how often two people agree: AGREES(a.owner, me) > 0.7."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.core.schema import Type
from tapestry.query.tql.expressions import Parser
from tapestry.query.tql.lexer import Token
from tapestry.query.tree import nodes as n

EXAMPLE = "Write AGREES(a.owner, me) > 0.7."
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def agreement(parser: Parser, name: Token) -> n.Agreement:
    """Read two people and the share that theirs is compared with; AGREES is read."""
    parser.enter()
    parser.expect("(")
    people = parser.listed(parser.term)
    parser.expect(")", "“,” or “)”")
    parser.depth -= 1
    if len(people) != 2:
        raise TapestryError("AGREES takes two people.", parser.since(name.start), EXAMPLE)
    if parser.token.word not in _COMPARISONS:
        raise parser.unexpected("“>” and a share", EXAMPLE)
    op = parser.take().word
    start = parser.token
    share = parser.term()
    if not isinstance(share, n.Literal) or share.type not in (Type.INTEGER, Type.NUMBER):
        span = share.span or start.span
        raise TapestryError("AGREES is compared with a number.", span, EXAMPLE)
    one, other = people
    return n.Agreement(one, other, op, share, span=parser.since(name.start))
