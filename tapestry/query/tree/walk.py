"""Walk a tree, change it, and what every room asks of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import is_not
from typing import Any, TypeVar, cast

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n

N = TypeVar("N")

FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator after its sides were exchanged."""

NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""The operator whose truth is the opposite; both are unknown where a side is NULL."""


_PLAIN = frozenset(["str", "int", "float", "bool", "None", "tuple", "Type"])
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Kind:
    """Of a class: whether it is a node, and the fields that can hold nodes."""

    node: bool
    parts: tuple[str, ...]


_KINDS: dict[type, _Kind] = {}


def _kind_of(kind: type) -> _Kind:
    if kind not in _KINDS:
        named = [one for one in fields(kind) if one.name != "span"] if is_dataclass(kind) else []
        parts = [one.name for one in named if not _PLAIN.issuperset(_WORD.findall(str(one.type)))]
        _KINDS[kind] = _Kind(issubclass(kind, n.Node), tuple(parts))
    return _KINDS[kind]


def walk(node: Any) -> Iterator[n.Node]:
    """Yield a node and all below it, through tuples and stage dataclasses, in source order."""
    rest = [node]
    while rest:
        one = rest.pop()
        if type(one) is tuple:
            rest += one[::-1]
            continue
        kind = _KINDS.get(type(one)) or _kind_of(type(one))
        if kind.node:
            yield one
        for name in kind.parts[::-1]:
            rest.append(getattr(one, name))


def transform(node: N, change: Callable[[n.Node], n.Node]) -> N:
    """Return the tree with ``change`` applied to every node, children first."""
    if isinstance(node, tuple):
        items = tuple([transform(item, change) for item in node])
        return cast(N, items) if any(map(is_not, items, node)) else node
    kind = _KINDS.get(type(node)) or _kind_of(type(node))
    new = {}
    for name in kind.parts:
        old = getattr(node, name)
        value = transform(old, change)
        if value is not old:
            new[name] = value
    rebuilt: Any = replace(cast(Any, node), **new) if new else node
    return cast(N, change(rebuilt)) if kind.node else rebuilt


def change_conditions(
    condition: n.Condition, change: Callable[[n.Condition], n.Condition]
) -> n.Condition:
    """Return the tree with ``change`` applied to every condition, inner ones first."""

    def inside(node: n.Condition) -> n.Condition:
        return change_conditions(node, change)

    match condition:
        case n.And(args=args) | n.Or(args=args):
            new = tuple([inside(arg) for arg in args])
            if any(map(is_not, new, args)):
                condition = type(condition)(new, span=condition.span)
        case n.Not(arg=arg):
            condition = _with(condition, arg=inside(arg))
        case n.Exists(condition=old) | n.InQuery(condition=old):
            condition = _with(condition, condition=inside(old))
        case n.Threshold(aggregate=rows):
            rows = _with(rows, condition=inside(rows.condition))
            condition = _with(condition, aggregate=rows)
        case n.Top(aggregate=rows, condition=old):
            rows = _with(rows, condition=inside(rows.condition))
            condition = _with(condition, aggregate=rows, condition=inside(old))
    return change(condition)


def _with(node: N, **parts: Any) -> N:
    for name, part in parts.items():
        if getattr(node, name) is not part:
            return cast(N, replace(cast(Any, node), **parts))
    return node


def once(items: Sequence[N]) -> tuple[N, ...]:
    """Return the items, each where it stands first."""
    if len(items) > 4:
        return tuple(dict.fromkeys(items))
    kept: list[N] = []  # hashing a few trees takes longer than comparing them
    for item in items:
        if item not in kept:
            kept.append(item)
    return tuple(kept)


def type_of(term: n.Term) -> Type:
    """Return a checked term's type."""
    return Type.INSTANT if isinstance(term, n.Now) else term.type


def columns_of(term: n.Term) -> Iterator[n.Column]:
    """Yield the columns that stand in a term, from left to right."""
    return (node for node in walk(term) if isinstance(node, n.Column))


def variables(node: Any) -> frozenset[str]:
    """Return the names of the variables whose columns a tree reads."""
    return frozenset(part.var for part in walk(node) if isinstance(part, n.Column))


def reads_now(node: Any) -> bool:
    """Tell whether ``now()`` stands anywhere in the tree."""
    return any(isinstance(part, n.Now) for part in walk(node))


def is_plain(node: Any) -> bool:
    """Tell whether a condition has neither a subquery nor ``now()``: it never changes."""
    changing = (n.Now, n.Exists, n.InQuery, n.Threshold, n.Top)
    return not any(isinstance(part, changing) for part in walk(node))


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of instants, each with its integer coefficient, and a duration in microseconds."""

    terms: tuple[tuple[n.Term, int], ...]
    constant: int

    def coefficient(self, term: n.Term) -> int:
        return dict(self.terms).get(term, 0)


def linear(term: n.Term) -> Linear | None:
    """Return an instant or duration as a linear form, or None if it has none.

    ``coalesce(m.date, m.ts)`` and the like are opaque instants with coefficient 1.
    """
    if isinstance(term, n.Literal) and term.type is Type.DURATION:
        return Linear((), int(term.value or 0))
    if isinstance(term, n.Arith) and term.type in (Type.INSTANT, Type.DURATION):
        left, right = linear(term.left), linear(term.right)
        if left is None or right is None or term.op not in "+-":
            return None
        return add(left, right, 1 if term.op == "+" else -1)
    if isinstance(term, n.Now) or _is_instant(term):
        return Linear(((term, 1),), 0)
    return None


def _is_instant(term: n.Term) -> bool:
    return not isinstance(term, n.Now) and term.type is Type.INSTANT


def add(left: Linear, right: Linear, sign: int) -> Linear:
    """Return ``left + sign * right``."""
    total: dict[n.Term, int] = dict(left.terms)
    for term, count in right.terms:
        total[term] = total.get(term, 0) + sign * count
    terms = tuple((term, count) for term, count in total.items() if count)
    return Linear(terms, left.constant + sign * right.constant)


def is_time(condition: n.Condition) -> bool:
    """Tell whether a condition is a time comparison in normal form, ``now() op e``."""
    return (
        isinstance(condition, n.Compare)
        and isinstance(condition.left, n.Now)
        and not reads_now(condition.right)
    )
