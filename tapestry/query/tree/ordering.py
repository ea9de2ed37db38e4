"""A canonical condition in a fixed order, for comparing conditions and for wording phrases.

Laws: ``alpha_normalize`` makes conditions equal that differ only in the names of their bound
variables (alpha-equivalent) or in the order of their parts; ``order_as_phrase`` changes the
order of parts only.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import MESSAGE
from tapestry.query.tree.walk import change_children, conjuncts


def alpha_normalize(condition: n.Condition) -> n.Condition:
    """Return a canonical condition, its variables named by depth and its parts sorted."""
    normalized: n.Condition = _alpha_normalize(condition, {MESSAGE: MESSAGE}, 1)
    return normalized


def _alpha_normalize(node: Any, names: dict[str, str], depth: int) -> Any:
    match node:
        case n.Column() | n.Binding():
            var = names.get(node.var, node.var)
            return node if var == node.var else replace(node, var=var)
        case n.Literal():
            return node
        case n.Not(n.Not(arg)):
            return _alpha_normalize(arg, names, depth)
        case n.Exists() | n.InQuery() | n.Aggregate():
            bindings = node.bindings
        case n.Top():
            bindings = (node.binding,)
        case _:
            bindings = ()
    if bindings:
        bound = {binding.var: f"v{depth}.{place}" for place, binding in enumerate(bindings)}
        names, depth = names | bound, depth + 1
    normalized = change_children(node, lambda part: _alpha_normalize(part, names, depth))
    if isinstance(normalized, n.And | n.Or):
        return replace(normalized, args=tuple(sorted(normalized.args, key=repr)))
    return normalized


# The order of phrases

_COLUMNS = (
    *("to_names", "to", "cc_names", "cc", "sender_name", "sender", "subject", "body"),
    *("filenames", "media_types", "diff_paths"),
)
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
        case n.Exists(condition=inner):
            # The alternatives in its tests are ordered, the tests themselves are not.
            tests = map(order_as_phrase, conjuncts(inner))
            return replace(condition, condition=n.And.of(tests))
        case _:
            return condition


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
        case n.Not(n.Exists(condition=n.And((_, n.Compare(">", n.Column(name="received")))))):
            return 4, ""
        case n.Compare("<=" | "<" | ">" as op, n.Column(name="received")):
            return 5 + ("<=", "<", ">").index(op), ""
    return 8, repr(test)


def _or_rank(test: n.Condition) -> tuple[str, int, int, str]:
    """Rank alternatives by the text that they look for, then by column."""
    match test:
        case (
            n.Compare("=", n.Column(name=name), n.Literal(str(text)))
            | n.Like(n.Column(name=name), n.Literal(str(text)))
            | n.Has(n.Column(name=name), n.Literal(str(text)))
        ) if name in _COLUMNS:
            base = _ANY.sub("", text.replace("\\", "")).lower()
            return base, _COLUMNS.index(name), int(isinstance(test, n.Has)), ""
    return "\U0010ffff", len(_COLUMNS), 0, repr(test)
