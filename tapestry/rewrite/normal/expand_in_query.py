"""Turn IN (SELECT …) into EXISTS, with the NULLs that SQL gives NOT IN."""

from __future__ import annotations

from tapestry.query.nodes import And, Compare, Condition, Exists, InQuery, IsNull, Node, Not, Or
from tapestry.rewrite.analysis import transform


def expand_in_query(condition: Condition) -> Condition:
    """Return the condition without IN (SELECT …); NOT must have been pushed inwards.

    Law: the rows for which the condition is true stay the same.  ``a IN (S)`` is true if
    some b of S equals a; ``a NOT IN (S)`` is true if no b of S equals a *and* neither a nor
    any b is NULL, unless S is empty.
    """
    return transform(transform(condition, _expand_negative), _expand_positive)


def _expand_negative(node: Node) -> Node:
    if isinstance(node, Not) and isinstance(node.arg, InQuery):
        query = node.arg
        not_unequal = Or((_equal(query), IsNull(query.term), IsNull(query.value)))
        return Not(Exists(query.bindings, And((query.condition, not_unequal))), span=node.span)
    return node


def _expand_positive(node: Node) -> Node:
    if isinstance(node, InQuery):
        return Exists(node.bindings, And((node.condition, _equal(node))), span=node.span)
    return node


def _equal(query: InQuery) -> Compare:
    return Compare("=", query.term, query.value, span=query.span)
