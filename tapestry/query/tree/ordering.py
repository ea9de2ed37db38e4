"""A canonical condition in a fixed order, for comparing conditions and for wording phrases.

Laws: ``alpha_normalize`` makes conditions equal that differ only in the names of their bound
variables (alpha-equivalent) or in the order of their parts; ``order_as_phrase`` changes the
order of parts only.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from tapestry.query.tree.nodes import (
    Aggregate,
    And,
    Binding,
    Column,
    Compare,
    Condition,
    Exists,
    Has,
    InQuery,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Threshold,
    Top,
)
from tapestry.query.tree.parsed import MESSAGE


def alpha_normalize(condition: Condition) -> Condition:
    """Return a canonical condition, its variables named by depth and its parts sorted."""
    normalized: Condition = _alpha_normalize(condition, {MESSAGE: MESSAGE}, 1)
    return normalized


def _alpha_normalize(node: Any, names: dict[str, str], depth: int) -> Any:
    if isinstance(node, tuple):
        return tuple([_alpha_normalize(part, names, depth) for part in node])
    bindings = _bindings(node)
    if bindings:
        bound = {each.var: f"v{depth}.{place}" for place, each in enumerate(bindings)}
        names, depth = names | bound, depth + 1
    if isinstance(node, Column | Binding):
        return replace(node, var=names.get(node.var, node.var), span=None)
    if isinstance(node, Not) and isinstance(node.arg, Not):
        return _alpha_normalize(node.arg.arg, names, depth)
    if not isinstance(node, Node):
        return node
    parts = {
        part.name: _alpha_normalize(getattr(node, part.name), names, depth) for part in fields(node)
    }
    if isinstance(node, And | Or):
        parts["args"] = tuple(sorted(parts["args"], key=repr))
    return type(node)(**parts | {"span": None})


def _bindings(node: Any) -> tuple[Binding, ...]:
    match node:
        case Exists() | InQuery() | Aggregate():
            return node.bindings
        case Top():
            return (node.binding,)
    return ()


# The order of phrases

_SAID = ("to", "cc", "sender_name", "sender", "subject", "body")
_ANY = re.compile(r"^%(?=@)|@%$")


def order_as_phrase(condition: Condition) -> Condition:
    """Return a canonical condition with what one phrase says side by side, as the phrase has it."""
    match condition:
        case And():
            return And(tuple(sorted(map(order_as_phrase, condition.args), key=_and_rank)))
        case Or():
            return Or(tuple(sorted(map(order_as_phrase, condition.args), key=_or_rank)))
        case Not():
            return Not(order_as_phrase(condition.arg))
        case Exists():
            return replace(condition, condition=_order_inside(condition.condition))
        case _:
            return condition


def _order_inside(condition: Condition) -> Condition:
    """Return the tests of an EXISTS with their own alternatives ordered, but not the tests."""
    if isinstance(condition, And):
        return And(tuple(map(order_as_phrase, condition.args)))
    return order_as_phrase(condition)


def _and_rank(test: Condition) -> tuple[int, str]:
    match test:
        case IsNull(Column(name="inreplyto")):
            return 0, ""
        case Threshold(Aggregate(condition=Or())):
            return 1, ""
        case Not(IsNull(Column(name="inreplyto"))):
            return 2, ""
        case Or((Has(Column(name="sender_name")), *_)) | Like(Column(name="sender")):
            return 3, ""
        case Compare("=", Column(name="sender")):
            return 3, ""
        case Not(Exists(condition=And((_, Compare(">", Column(name="ts")))))):
            return 4, ""
        case Compare("<=" | "<" | ">" as op, Column(name="ts")):
            return 5 + ("<=", "<", ">").index(op), ""
    return 8, repr(test)


def _or_rank(test: Condition) -> tuple[str, int, int, str]:
    """Rank alternatives by the text that they look for, then by column."""
    match test:
        case (
            Compare("=", Column(name=name), Literal(str(text)))
            | Like(Column(name=name), Literal(str(text)))
            | Has(Column(name=name), Literal(str(text)))
        ) if name in _SAID:
            base = _ANY.sub("", text.replace("\\", "")).lower()
            return base, _SAID.index(name), int(isinstance(test, Has)), ""
    return "\U0010ffff", len(_SAID), 0, repr(test)
