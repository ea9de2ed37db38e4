"""What the rules ask of a tree; nothing here changes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from tapestry.core.schema import Type
from tapestry.query.nodes import (
    Arith,
    Column,
    Compare,
    Condition,
    Exists,
    InQuery,
    Literal,
    Node,
    Now,
    Term,
)

N = TypeVar("N")

FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator after its sides were exchanged."""

NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""The operator whose truth is the opposite; both are unknown where a side is NULL."""


_PARTS: dict[type, tuple[str, ...]] = {}


def _parts(node: Any) -> tuple[str, ...]:
    """Return the names of the fields that hold a node's parts; a plain value has none."""
    kind = type(node)
    if kind not in _PARTS:
        named = fields(node) if is_dataclass(node) else ()
        _PARTS[kind] = tuple(field.name for field in named if field.name != "span")
    return _PARTS[kind]


def walk(node: Any) -> Iterator[Node]:
    """Yield a node and all below it, through tuples and stage dataclasses, in source order."""
    if isinstance(node, tuple):
        for item in node:
            yield from walk(item)
        return
    if isinstance(node, Node):
        yield node
    for name in _parts(node):
        yield from walk(getattr(node, name))


def transform(node: N, change: Callable[[Node], Node]) -> N:
    """Return the tree with ``change`` applied to every node, children first."""
    if isinstance(node, tuple):
        items = tuple(transform(item, change) for item in node)
        same = all(new is old for new, old in zip(items, node, strict=True))
        return node if same else cast(N, items)
    new = {}
    for name in _parts(node):
        old = getattr(node, name)
        value = transform(old, change)
        if value is not old:
            new[name] = value
    rebuilt: Any = replace(cast(Any, node), **new) if new else node
    return cast(N, change(rebuilt)) if isinstance(node, Node) else rebuilt


def variables(node: Any) -> frozenset[str]:
    """Return the names of the variables whose columns a tree reads."""
    return frozenset(n.var for n in walk(node) if isinstance(n, Column))


def reads_now(node: Any) -> bool:
    """Tell whether ``now()`` stands anywhere in the tree."""
    return any(isinstance(n, Now) for n in walk(node))


def is_plain(node: Any) -> bool:
    """Tell whether a condition has neither a subquery nor ``now()``: it never changes."""
    return not any(isinstance(n, Now | Exists | InQuery) for n in walk(node))


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of instants, each with its integer coefficient, and a duration in microseconds."""

    terms: tuple[tuple[Term, int], ...]
    constant: int

    def coefficient(self, term: Term) -> int:
        return dict(self.terms).get(term, 0)


def linear(term: Term) -> Linear | None:
    """Return an instant or duration as a linear form, or None if it has none.

    ``coalesce(m.date, m.ts)`` and the like are opaque instants with coefficient 1.
    """
    if isinstance(term, Literal) and term.type is Type.DURATION:
        return Linear((), int(term.value or 0))
    if isinstance(term, Arith) and term.type in (Type.INSTANT, Type.DURATION):
        left, right = linear(term.left), linear(term.right)
        if left is None or right is None or term.op not in "+-":
            return None
        return add(left, right, 1 if term.op == "+" else -1)
    if isinstance(term, Now) or _is_instant(term):
        return Linear(((term, 1),), 0)
    return None


def _is_instant(term: Term) -> bool:
    return not isinstance(term, Now) and term.type is Type.INSTANT


def add(left: Linear, right: Linear, sign: int) -> Linear:
    """Return ``left + sign * right``."""
    total: dict[Term, int] = dict(left.terms)
    for term, count in right.terms:
        total[term] = total.get(term, 0) + sign * count
    terms = tuple((term, count) for term, count in total.items() if count)
    return Linear(terms, left.constant + sign * right.constant)


def is_time(condition: Condition) -> bool:
    """Tell whether a condition is a time comparison in normal form, ``now() op e``."""
    return (
        isinstance(condition, Compare)
        and isinstance(condition.left, Now)
        and not reads_now(condition.right)
    )
