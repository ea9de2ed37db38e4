"""Drop TRUE and FALSE where they decide, and nested ANDs and ORs."""

from __future__ import annotations

from tapestry.query.nodes import And, Condition, Exists, Node, Not, Or, Truth
from tapestry.rewrite.analysis import transform


def simplify(condition: Condition) -> Condition:
    """Return the condition without needless constants, nesting and repetition.

    Law: the condition has the same value, unknown included, for every binding and instant.
    """
    return transform(condition, _simplify)


def _simplify(node: Node) -> Node:
    if isinstance(node, And | Or):
        return _join(node)
    if isinstance(node, Exists) and node.condition == Truth(False):
        return Truth(False, span=node.span)
    if isinstance(node, Not) and isinstance(node.arg, Truth):
        return Truth(not node.arg.value, span=node.span)
    return node


def _join(node: And | Or) -> Condition:
    kind = type(node)
    deciding = isinstance(node, Or)
    parts: dict[Condition, None] = {}
    for arg in node.args:
        for part in arg.args if isinstance(arg, kind) else (arg,):
            if part == Truth(deciding):
                return part
            if part != Truth(not deciding):
                parts[part] = None
    if not parts:
        return Truth(not deciding, span=node.span)
    if len(parts) == 1:
        return next(iter(parts))
    return kind(tuple(parts), span=node.span)
