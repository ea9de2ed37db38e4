"""Negation normal form: push NOT inwards until it stands only before what cannot take it in."""

from __future__ import annotations

from dataclasses import replace

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import NEGATED, change_inner_conditions


def push_not(condition: n.Condition) -> n.Condition:
    """Return the condition with NOT only before EXISTS, IN, LIKE, HAS, IS NULL, TOP and sets.

    Law: the rows for which the condition is true stay the same.  De Morgan's laws and the
    opposite operators hold in SQL's three values; a scalar's comparison with the constant
    NULL is never true under either sign, and once no NOT stands above it, FALSE says the same.

    >>> from tapestry.rewrite.examples import condition, show
    >>> show(push_not(condition("NOT (m.size > 1024 OR m.list = 'a')")))
    m.size <= 1024 AND m.list <> 'a'
    """
    return _push(condition, negated=False)


def _push(node: n.Condition, negated: bool) -> n.Condition:
    match node:
        case n.Not(arg=arg):
            return _push(arg, not negated)
        case n.And(args=args) | n.Or(args=args):
            parts = tuple([_push(arg, negated) for arg in args])
            kind = n.And if isinstance(node, n.And) is not negated else n.Or
            return kind(parts, span=node.span)
        case n.Truth(value=value):
            return replace(node, value=value is not negated)
        case n.Exists() | n.InQuery() | n.Top():
            inner = change_inner_conditions(node, push_not)
            return n.Not(inner, span=node.span) if negated else inner
        case n.Threshold(op=op):
            rows = change_inner_conditions(node.aggregate, push_not)
            return replace(node, aggregate=rows, op=NEGATED[op] if negated else op)
        case n.Compare(op=op, left=left, right=right):
            if isinstance(left, n.Column) and left.type is Type.SET:
                return n.Not(node, span=node.span) if negated else node
            if _is_null(left) or _is_null(right):
                return n.Truth(False, span=node.span)
            return replace(node, op=NEGATED[op]) if negated else node
    return n.Not(node, span=node.span) if negated else node


def _is_null(term: object) -> bool:
    return isinstance(term, n.Literal) and term.type is Type.NULL
