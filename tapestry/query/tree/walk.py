"""The one toolkit of trees: walk them, change them, take them apart.

Every function works on nodes, on tuples of them and on the dataclasses of the stages that hold
nodes.  A recursion that needs more than its node (a depth, a polarity) is written with
``children`` or ``change_children``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import is_not
from typing import Any, TypeVar, cast

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n

N = TypeVar("N")

FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator after its sides were exchanged."""

NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""The operator whose truth is the opposite; both are unknown where a side is NULL."""

_HOLDS_OF_ZERO = {1: ("<", "<=", "<>"), 0: ("=", "<=", ">="), -1: (">", ">=", "<>")}
"""Operators by which zero compares with a number, by its sign."""


_PLAIN = frozenset(["str", "int", "float", "bool", "None", "tuple", "Type"])
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Kind:
    """The structure of a class: its kind and fields, those that can hold nodes or conditions."""

    node: bool
    condition: bool
    fields: tuple[str, ...]
    parts: tuple[str, ...]
    conditions: tuple[str, ...]


class _Kinds(dict[type, _Kind]):
    """The kind of every class that was met."""

    def __missing__(self, kind: type) -> _Kind:
        all_fields = fields(kind) if is_dataclass(kind) else ()
        words = {
            field.name: set(_WORD.findall(str(field.type)))
            for field in all_fields
            if field.name != "span"
        }
        self[kind] = _Kind(
            issubclass(kind, n.Node),
            issubclass(kind, n.Condition),
            tuple(field.name for field in all_fields),
            tuple(name for name, types in words.items() if not types <= _PLAIN),
            tuple(name for name, types in words.items() if types & {"Condition", "Aggregate"}),
        )
        return self[kind]


_KINDS = _Kinds()


def holds_of_zero(op: str, number: float) -> bool:
    """Tell whether zero compares so with a number.

    >>> holds_of_zero("<", 0.1), holds_of_zero(">=", 1)
    (True, False)
    """
    return op in _HOLDS_OF_ZERO[(number > 0) - (number < 0)]


def children(node: Any) -> Iterator[Any]:
    """Yield what stands directly in a node, in source order."""
    for name in _KINDS[type(node)].parts:
        part = getattr(node, name)
        if type(part) is tuple:
            yield from part
        elif part is not None:
            yield part


def walk(node: Any) -> Iterator[n.Node]:
    """Yield a node and all below it, in source order.

    >>> [type(node).__name__ for node in walk(n.Not(n.IsNull(n.Column("m", "list"))))]
    ['Not', 'IsNull', 'Column']
    """
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if type(part) is tuple:
            waiting += part[::-1]
            continue
        kind = _KINDS[type(part)]
        if kind.node:
            yield part
        for name in kind.parts[::-1]:
            waiting.append(getattr(part, name))


def depth(node: Any) -> int:
    """Return how many nodes stand in each other at most."""
    return 1 + max(map(depth, children(node)), default=0)


def change_children(node: N, change: Callable[[Any], Any]) -> N:
    """Return the node with ``change`` applied to what stands directly in it."""
    return _changed(node, _KINDS[type(node)].parts, change)


def transform(node: N, change: Callable[[n.Node], n.Node]) -> N:
    """Return the tree with ``change`` applied to every node, children first.

    >>> def later(node): return n.Now() if isinstance(node, n.Column) else node
    >>> transform(n.Compare("<", n.Column("m", "ts"), n.Now()), later)
    Compare(op='<', left=Now(), right=Now())
    """

    def inside(part: Any) -> Any:
        kind = _KINDS[type(part)]
        new = _changed(part, kind.parts, inside) if kind.parts else part
        return change(new) if kind.node else new

    return cast(N, _each(node, inside) if isinstance(node, tuple) else inside(node))


def change_conditions(
    condition: n.Condition, change: Callable[[n.Condition], n.Condition]
) -> n.Condition:
    """Return the tree with ``change`` applied to every condition, inner ones first.

    It is ``transform`` without a look at the terms.
    """

    def inside(part: Any) -> Any:
        kind = _KINDS[type(part)]
        new = _changed(part, kind.conditions, inside) if kind.conditions else part
        return change(new) if kind.condition else new

    return cast(n.Condition, inside(condition))


def change_inner_conditions(node: N, change: Callable[[n.Condition], n.Condition]) -> N:
    """Return the node with ``change`` applied to the conditions directly in it.

    Those of an aggregate that stands in it count too.
    """

    def inside(part: Any) -> Any:
        if isinstance(part, n.Aggregate):
            return change_inner_conditions(part, change)
        return change(part)

    return _changed(node, _KINDS[type(node)].conditions, inside)


def _changed(node: N, names: tuple[str, ...], change: Callable[[Any], Any]) -> N:
    new = {}
    for name in names:
        old = getattr(node, name)
        if old is None or old == ():
            continue
        value = _each(old, change) if type(old) is tuple else change(old)
        if value is not old:
            new[name] = value
    return _replaced(node, new) if new else node


def _replaced(node: N, new: dict[str, Any]) -> N:
    """Return ``dataclasses.replace(node, **new)``, in half its time: no rule does more often."""
    copy = object.__new__(type(node))
    for name in _KINDS[type(node)].fields:
        object.__setattr__(copy, name, new[name] if name in new else getattr(node, name))
    return copy


def _each(parts: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    items = tuple([change(part) for part in parts])
    return items if any(map(is_not, items, parts)) else parts


def conjuncts(condition: n.Condition) -> tuple[n.Condition, ...]:
    """Return the conditions of an AND, or the one condition that is none."""
    return condition.args if isinstance(condition, n.And) else (condition,)


def equalities(conditions: Iterable[n.Condition]) -> Iterator[tuple[n.Column, n.Column]]:
    """Yield (column, other) where all of the conditions together make them equal, both ways.

    The first is never a SET; where the other is one, the column equals some element of it.

    >>> key, parent = n.Column("m", "msgid", Type.TEXT), n.Column("r", "inreplyto", Type.TEXT)
    >>> list(equalities([n.Compare("=", parent, key)])) == [(parent, key), (key, parent)]
    True
    """
    for condition in conditions:
        for test in conjuncts(condition):
            match test:
                case n.Compare(op="=", left=n.Column() as left, right=n.Column() as right):
                    if left.type is not Type.SET:
                        yield left, right
                    yield right, left


def distinct(items: Sequence[N]) -> tuple[N, ...]:
    """Return the items, each where it stands first.

    Of a checked query no two subqueries are equal: each has variables of its own.
    """
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
    return _holds(node, n.Now)


def is_plain(node: Any) -> bool:
    """Tell whether a condition has neither a subquery nor ``now()``: it never changes."""
    return not _holds(node, (n.Now, n.Exists, n.InQuery, n.Threshold, n.Top))


def _holds(node: Any, kinds: type | tuple[type, ...]) -> bool:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if type(part) is tuple:
            waiting += part
        elif isinstance(part, kinds):
            return True
        else:
            for name in _KINDS[type(part)].parts:
                waiting.append(getattr(part, name))
    return False


def is_temporal(condition: n.Condition) -> bool:
    """Tell whether a condition is a temporal predicate in normal form, ``now() op e``."""
    return (
        isinstance(condition, n.Compare)
        and isinstance(condition.left, n.Now)
        and not reads_now(condition.right)
    )
