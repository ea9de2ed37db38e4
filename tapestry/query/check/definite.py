"""A condition that is never unknown: what the ``not`` of phrases is the opposite of.

In TQL a comparison with NULL is unknown, and so is its NOT.  In a phrase ``not`` means everything
else: a message without a subject is “not about spark”.  So the condition behind it is first made
false where it is unknown, by ``coalesce`` where a default makes the test false: one test remains
one test, and the normal form grows no alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.core.schema import INSTANTS, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import FreshNames
from tapestry.query.tree.walk import conjuncts, holds_of_zero, transform, walk

_NEVER_NULL = ("msgid", "annid", *INSTANTS, "source", "audience")
_ANYTHING = re.compile("%*")


def definite(node: n.Condition, names: FreshNames, *, unknown: bool = False) -> n.Condition:
    """Return a checked condition that is ``unknown`` where the given one is unknown: mostly false.

    >>> from tapestry.query.context import Context
    >>> from tapestry.query.frontend import read
    >>> from tapestry.query.tree.printer import print_condition
    >>> def show(text):
    ...     checked = read(text, Context()).condition
    ...     return print_condition(definite(checked, FreshNames({"m", "r"})))
    >>> show("m.subject HAS 'spark' AND m.source > 'a'")
    "coalesce(m.subject, '') HAS 'spark' AND m.source > 'a'"
    >>> show("m.date > m.ts")
    'm.date > m.ts AND m.date IS NOT NULL'
    >>> show("m.attachments > 0")
    'coalesce(m.attachments, 0) > 0'
    """
    match node:
        case n.And():
            parts = [definite(arg, names, unknown=unknown) for arg in node.args]
            return n.And.of(parts, node.span)
        case n.Or():
            return n.Or.of([definite(arg, names, unknown=unknown) for arg in node.args], node.span)
        case n.Not():
            return replace(node, arg=definite(node.arg, names, unknown=not unknown))
        case n.InFilter(unknown=None):
            return replace(node, unknown=unknown)
        case n.InQuery():
            equal: n.Condition = n.Compare("=", node.value, node.term)
            nulls = [*_nulls(node.value), *_nulls(node.term)] if unknown else []
            test = n.And.of([*conjuncts(node.condition), n.Or.of([equal, *nulls])])
            return n.Exists(node.bindings, test, span=node.span)
        case n.Threshold(n.Aggregate(term=n.Fold())):
            hint = "Write NOT in TQL: NOT m IN baseball. It holds where there is a value."
            message = "“not” cannot be said of an aggregate that may have no value."
            raise TapestryError(message, node.span, hint)
        case n.Threshold(aggregate=aggregate) if aggregate.function != "COUNT":
            rows = _rows(aggregate, names)
            return n.Or.of([node, n.Not(rows)]) if unknown else n.And.of([node, rows])
        case n.Compare() | n.Like() | n.Has() | n.InList():
            return _test(node, unknown=unknown)
        case _:
            return node


def _test(node: n.Compare | n.Like | n.Has | n.InList, *, unknown: bool) -> n.Condition:
    terms = (node.left, node.right) if isinstance(node, n.Compare) else (node.term,)
    if any(isinstance(term, n.Literal) and term.type is Type.NULL for term in terms):
        return n.Truth(unknown, span=node.span)
    nulls = [null for term in terms for null in _nulls(term)]
    if not nulls:
        return node
    default = None if unknown else _default(node)
    if default:
        return _with(default, node)
    if unknown:
        return n.Or.of([node, *nulls], node.span)
    return n.And.of([node, *[n.Not(null) for null in nulls]], node.span)


def _default(node: n.Compare | n.Like | n.Has | n.InList) -> n.Literal | None:
    """Return the empty text, or 0, if a test of a column does not hold of that."""
    term = node.left if isinstance(node, n.Compare) else node.term
    if not isinstance(term, n.Column):
        return None
    if term.type is Type.INTEGER:
        zero = n.Literal(0, Type.INTEGER)
        match node:
            case n.Compare(op, _, n.Literal(int(number))):
                return None if holds_of_zero(op, number) else zero
        return None
    match node:
        case n.Compare("=", _, n.Literal(str(value))):
            fails = value != ""
        case n.Like(_, pattern):
            fails = not _ANYTHING.fullmatch(str(pattern.value))
        case n.InList(_, values):
            fails = "" not in values.values
        case _:
            fails = isinstance(node, n.Has)
    return n.Literal("", Type.TEXT) if fails and term.type is Type.TEXT else None


def _with(
    default: n.Literal, node: n.Compare | n.Like | n.Has | n.InList
) -> n.Compare | n.Like | n.Has | n.InList:
    """Return a test of a column with a value that stands for NULL."""
    term = node.left if isinstance(node, n.Compare) else node.term
    filled = n.Call("coalesce", (term, default), default.type)
    if isinstance(node, n.Compare):
        return replace(node, left=filled)
    return replace(node, term=filled)


def _nulls(term: n.Term) -> Iterator[n.Condition]:
    """Yield tests of which some is true where a term is NULL."""
    match term:
        case n.Column(_, name) if name not in _NEVER_NULL and term.type is not Type.SET:
            yield n.IsNull(term)
        case n.Arith(_, left, right):
            yield from _nulls(left)
            yield from _nulls(right)
        case n.Call("coalesce", args):
            nulls = [n.Or.of(_nulls(arg)) for arg in args]
            if n.Truth(False) not in nulls:
                yield n.And.of(nulls)
        case n.Call(_, args):
            for arg in args:
                yield from _nulls(arg)


def _rows(aggregate: n.Aggregate, names: FreshNames) -> n.Condition:
    """Return that an aggregate has a value, with variables of its own.

    Of a share it has one if there is a row at all; of a tile, if some does not pass.
    """
    nulls = [n.Not(null) for null in _nulls(aggregate.term)] if aggregate.term else []
    condition = n.And.of([*conjuncts(aggregate.condition), *nulls])
    rows = _renamed(n.Exists(aggregate.bindings, condition), names)
    if aggregate.function == "NTILE":
        assert aggregate.among
        among = replace(aggregate.among, tiles=None)
        share = replace(aggregate, function="SHARE", type=Type.NUMBER, among=among)
        others = n.Threshold(share, "<", n.Literal(1, Type.INTEGER))
        return n.And((rows, _renamed(others, names)))
    if aggregate.among and aggregate.function != "SHARE":
        count = replace(aggregate, function="COUNT", distinct=False, type=Type.INTEGER)
        return _renamed(n.Threshold(count, ">", n.Literal(0, Type.INTEGER)), names)
    return rows


def _renamed(condition: n.Condition, names: FreshNames) -> n.Condition:
    """Return a condition whose variables have names of their own."""
    bound = [node.var for node in walk(condition) if isinstance(node, n.Binding)]
    fresh = {var: names.take(var) for var in bound}

    def rename(node: n.Node) -> n.Node:
        if isinstance(node, n.Column | n.Binding) and node.var in fresh:
            return replace(node, var=fresh[node.var])
        return node

    return transform(condition, rename)


def as_written(condition: n.Condition) -> n.Condition:
    """Return what a definite condition of a phrase was made of, as far as that is seen."""

    def simplify(node: n.Node) -> n.Node:
        match node:
            case n.Call("coalesce", (n.Column() as column, n.Literal("" | 0))):
                return column
            case n.And((n.Threshold() as threshold, n.Exists())):
                return threshold
        return node

    return transform(condition, simplify)
