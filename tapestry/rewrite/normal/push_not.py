"""Push NOT inwards until it stands only before what cannot take it in."""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import NEGATED


def push_not(condition: n.Condition) -> n.Condition:
    """Return the condition with NOT only before EXISTS, IN, LIKE, HAS, IS NULL, TOP and sets.

    Law: the rows for which the condition is true stay the same.  De Morgan's laws and the
    opposite operators hold in SQL's three values; a scalar's comparison with the constant
    NULL is never true under either sign, and once no NOT stands above it, FALSE says the same.
    """
    return _push(condition, negated=False)


def _push(node: n.Condition, negated: bool) -> n.Condition:
    match node:
        case n.Not(arg=arg):
            return _push(arg, not negated)
        case n.And(args=args) | n.Or(args=args):
            parts = tuple(_push(arg, negated) for arg in args)
            joined = isinstance(node, n.And) is not negated
            return n.And(parts, span=node.span) if joined else n.Or(parts, span=node.span)
        case n.Truth(value=value):
            return replace(node, value=value is not negated)
        case n.Exists() | n.InQuery():
            inner = replace(node, condition=_push(node.condition, False))
            return n.Not(inner, span=node.span) if negated else inner
        case n.Threshold(aggregate=aggregate, op=op):
            rows = replace(aggregate, condition=_push(aggregate.condition, False))
            return replace(node, aggregate=rows, op=NEGATED[op] if negated else op)
        case n.Top(aggregate=aggregate):
            rows = replace(aggregate, condition=_push(aggregate.condition, False))
            top = replace(node, aggregate=rows, condition=_push(node.condition, False))
            return n.Not(top, span=node.span) if negated else top
        case n.Compare(op=op, left=left, right=right):
            if isinstance(left, n.Column) and left.type is Type.SET:
                return n.Not(node, span=node.span) if negated else node
            if _is_null(left) or _is_null(right):
                return n.Truth(False, span=node.span)
            return replace(node, op=NEGATED[op]) if negated else node
    return n.Not(node, span=node.span) if negated else node


def _is_null(term: object) -> bool:
    return isinstance(term, n.Literal) and term.type is Type.NULL
