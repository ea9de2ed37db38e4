"""Drop TRUE and FALSE where they decide, and nested ANDs and ORs."""

from __future__ import annotations

from operator import is_

from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import change_conditions, distinct


def simplify(condition: n.Condition) -> n.Condition:
    """Return the condition without needless constants, nesting and repetition.

    Law: the condition has the same value, unknown included, for every binding and instant.

    >>> from tapestry.rewrite.examples import condition, show
    >>> show(simplify(condition("m.size > 1 AND (TRUE AND m.size > 1)")))
    m.size > 1
    """
    return change_conditions(condition, _simplify)


def _simplify(node: n.Condition) -> n.Condition:
    match node:
        case n.And() | n.Or():
            return _join(node)
        case n.Exists(condition=n.Truth(value=False)):
            return n.Truth(False, span=node.span)
        case n.Not(arg=n.Truth(value=value)):
            return n.Truth(not value, span=node.span)
    return node


def _join(node: n.And | n.Or) -> n.Condition:
    kind = type(node)
    deciding = isinstance(node, n.Or)
    parts: list[n.Condition] = []
    for arg in node.args:
        for part in arg.args if isinstance(arg, kind) else (arg,):
            if not isinstance(part, n.Truth):
                parts.append(part)
            elif part.value is deciding:
                return part
    kept = distinct(parts)
    if not kept:
        return n.Truth(not deciding, span=node.span)
    if len(kept) == 1:
        return kept[0]
    same = len(kept) == len(node.args) and all(map(is_, kept, node.args))
    return node if same else kind(kept, span=node.span)
