"""A canonical condition in a fixed order, for comparing conditions and for wording phrases.

Laws: ``alpha_normalize`` makes conditions equal that differ only in the names of their bound
variables (alpha-equivalent) or in the order of their parts; ``order_as_phrase`` changes the
order of parts only.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE


def alpha_normalize(condition: n.Condition) -> n.Condition:
    """Return a canonical condition, its variables named by depth and its parts sorted."""
    normalized: n.Condition = _alpha_normalize(condition, {MESSAGE: MESSAGE}, 1)
    return normalized


def _alpha_normalize(node: Any, names: dict[str, str], depth: int) -> Any:
    if isinstance(node, tuple):
        return tuple([_alpha_normalize(part, names, depth) for part in node])
    bindings = _bindings(node)
    if bindings:
        bound = {each.var: f"v{depth}.{place}" for place, each in enumerate(bindings)}
        names, depth = names | bound, depth + 1
    if isinstance(node, n.Column | n.Binding):
        return replace(node, var=names.get(node.var, node.var), span=None)
    if isinstance(node, n.Not) and isinstance(node.arg, n.Not):
        return _alpha_normalize(node.arg.arg, names, depth)
    if not isinstance(node, n.Node):
        return node
    parts = {
        part.name: _alpha_normalize(getattr(node, part.name), names, depth) for part in fields(node)
    }
    if isinstance(node, n.And | n.Or):
        parts["args"] = tuple(sorted(parts["args"], key=repr))
    return type(node)(**parts | {"span": None})


def _bindings(node: Any) -> tuple[n.Binding, ...]:
    match node:
        case n.Exists() | n.InQuery() | n.Aggregate():
            return node.bindings
        case n.Top():
            return (node.binding,)
    return ()


# The order of phrases

_SAID = ("to", "cc", "sender_name", "sender", "subject", "body")
_ANY = re.compile(r"^%(?=@)|@%$")


def order_as_phrase(condition: n.Condition) -> n.Condition:
    """Return a canonical condition with what one phrase says side by side, as the phrase has it."""
    match condition:
        case n.And():
            return n.And(tuple(sorted(map(order_as_phrase, condition.args), key=_and_rank)))
        case n.Or():
            return n.Or(tuple(sorted(map(order_as_phrase, condition.args), key=_or_rank)))
        case n.Not():
            return n.Not(order_as_phrase(condition.arg))
        case n.Exists():
            return replace(condition, condition=_order_inside(condition.condition))
        case _:
            return condition


def _order_inside(condition: n.Condition) -> n.Condition:
    """Return the tests of an EXISTS with their own alternatives ordered, but not the tests."""
    if isinstance(condition, n.And):
        return n.And(tuple(map(order_as_phrase, condition.args)))
    return order_as_phrase(condition)


def _and_rank(test: n.Condition) -> tuple[int, str]:
    match test:
        case n.IsNull(n.Column(name="inreplyto")):
            return 0, ""
        case n.Threshold(n.Aggregate(condition=n.Or())):
            return 1, ""
        case n.Not(n.IsNull(n.Column(name="inreplyto"))):
            return 2, ""
        case n.Or((n.Has(n.Column(name="sender_name")), *_)) | n.Like(n.Column(name="sender")):
            return 3, ""
        case n.Compare("=", n.Column(name="sender")):
            return 3, ""
        case n.Not(n.Exists(condition=n.And((_, n.Compare(">", n.Column(name="ts")))))):
            return 4, ""
        case n.Compare("<=" | "<" | ">" as op, n.Column(name="ts")):
            return 5 + ("<=", "<", ">").index(op), ""
    return 8, repr(test)


def _or_rank(test: n.Condition) -> tuple[str, int, int, str]:
    """Rank alternatives by the text that they look for, then by column."""
    match test:
        case (
            n.Compare("=", n.Column(name=name), n.Literal(str(text)))
            | n.Like(n.Column(name=name), n.Literal(str(text)))
            | n.Has(n.Column(name=name), n.Literal(str(text)))
        ) if name in _SAID:
            base = _ANY.sub("", text.replace("\\", "")).lower()
            return base, _SAID.index(name), int(isinstance(test, n.Has)), ""
    return "\U0010ffff", len(_SAID), 0, repr(test)
