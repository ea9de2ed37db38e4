"""Drop TRUE and FALSE where they decide, and nested ANDs and ORs."""

from __future__ import annotations

from operator import is_

from tapestry.query.tree.nodes import And, Condition, Exists, Not, Or, Truth
from tapestry.query.tree.walk import change_conditions, once


def simplify(condition: Condition) -> Condition:
    """Return the condition without needless constants, nesting and repetition.

    Law: the condition has the same value, unknown included, for every binding and instant.
    """
    return change_conditions(condition, _simplify)


def _simplify(node: Condition) -> Condition:
    match node:
        case And() | Or():
            return _join(node)
        case Exists(condition=Truth(value=False)):
            return Truth(False, span=node.span)
        case Not(arg=Truth(value=value)):
            return Truth(not value, span=node.span)
    return node


def _join(node: And | Or) -> Condition:
    kind = type(node)
    deciding = isinstance(node, Or)
    found: list[Condition] = []
    for arg in node.args:
        for part in arg.args if isinstance(arg, kind) else (arg,):
            if not isinstance(part, Truth):
                found.append(part)
            elif part.value is deciding:
                return part
    parts = once(found)
    if not parts:
        return Truth(not deciding, span=node.span)
    if len(parts) == 1:
        return parts[0]
    same = len(parts) == len(node.args) and all(map(is_, parts, node.args))
    return node if same else kind(parts, span=node.span)
