"""Temporal predicates: bring every comparison with ``now()`` to the form ``now() op e``."""

from __future__ import annotations

from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.core.schema import INSTANTS, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.linear import Linear, add, linear
from tapestry.query.tree.walk import FLIPPED, change_conditions, reads_now, type_of


def isolate_now(condition: n.Condition) -> n.Condition:
    """Return the condition with ``now()`` alone on the left of ``< <= > >=``, e on the right.

    Law: the condition has the same value, unknown included, for every binding and instant:
    terms move across the sign, ``=`` is ``>= AND <=`` and ``<>`` is ``< OR >`` [Terry92 §4.2].
    Where ``now()`` stands on both sides it cancels; so does a column, but where it can be NULL
    its being there stays a condition (NOT does not stand above it).

    >>> from tapestry.rewrite.examples import condition, show
    >>> show(isolate_now(condition("now() - m.ts > 2 weeks")))
    now() > m.ts + 2 weeks
    """
    return change_conditions(condition, _isolate)


def _isolate(node: n.Condition) -> n.Condition:
    if not isinstance(node, n.Compare) or not (reads_now(node.left) or reads_now(node.right)):
        return node
    moved = _move(node)
    cancelled = _instants(node) - _instants(moved)
    present = [n.Not(n.IsNull(term)) for term in cancelled if not _never_null(term)]
    return n.And((moved, *present), span=node.span) if present else moved


def _instants(node: Any) -> frozenset[n.Term]:
    """Return the opaque instants that the arithmetic of a comparison adds up."""
    match node:
        case n.Compare(left=left, right=right) | n.Arith(left=left, right=right):
            return _instants(left) | _instants(right)
        case n.And(args=args) | n.Or(args=args):
            return frozenset().union(*map(_instants, args))
        case n.Literal() | n.Now():
            return frozenset()
    return frozenset((node,))


def _never_null(term: n.Term) -> bool:
    return isinstance(term, n.Column) and term.name in INSTANTS


def _move(node: n.Compare) -> n.And | n.Or | n.Compare:
    left, right = linear(node.left), linear(node.right)
    if left is None or right is None:
        raise TapestryError(
            "now() can only be compared with instants and durations.",
            node.span,
            "Write for example m.received < now() - 2 weeks.",
        )
    form = add(left, right, -1)
    count = form.coefficient(n.Now())
    rest = Linear(tuple(t for t in form.terms if not isinstance(t[0], n.Now)), form.constant)
    if count == 0:
        return _without_now(node, rest)
    if abs(count) > 1:
        raise TapestryError(
            "now() cannot be multiplied.",
            node.span,
            "Let it stand once: m.received < now() - 2 weeks.",
        )
    if count == 1:
        op, bound = node.op, add(Linear((), 0), rest, -1)
    else:
        op, bound = FLIPPED[node.op], rest
    bound_term = build(bound)
    if op == "=":
        return n.And(
            (n.Compare(">=", n.Now(), bound_term), n.Compare("<=", n.Now(), bound_term)),
            span=node.span,
        )
    if op == "<>":
        return n.Or(
            (n.Compare("<", n.Now(), bound_term), n.Compare(">", n.Now(), bound_term)),
            span=node.span,
        )
    return n.Compare(op, n.Now(), bound_term, span=node.span)


def _without_now(node: n.Compare, rest: Linear) -> n.Compare:
    """Return the comparison of a linear form with zero, negative terms moved to the right."""
    plus = tuple((term, count) for term, count in rest.terms if count > 0)
    minus = tuple((term, -count) for term, count in rest.terms if count < 0)
    if sum(count for _, count in plus) == sum(count for _, count in minus) == 1:
        left: n.Term = plus[0][0]
        right = build(Linear(minus, -rest.constant))
    else:
        left = build(Linear(rest.terms, 0)) if rest.terms else n.Literal(0, Type.DURATION)
        right = n.Literal(-rest.constant, Type.DURATION)
    return n.Compare(node.op, left, right, span=node.span)


def build(form: Linear) -> n.Term:
    """Return a linear form as a term: instants first, then one duration.

    >>> build(Linear(((n.Now(), 1),), 0))
    Now()
    """
    plus = [term for term, count in form.terms for _ in range(count)]
    minus = [term for term, count in form.terms for _ in range(-count)]
    total: n.Term | None = plus.pop(0) if len(plus) > len(minus) else None
    for up, down in zip(plus, minus, strict=True):
        gap = n.Arith("-", up, down, Type.DURATION)
        total = gap if total is None else n.Arith("+", total, gap, type_of(total))
    size = n.Literal(abs(form.constant), Type.DURATION)
    if total is None:
        return n.Literal(form.constant, Type.DURATION)
    if form.constant == 0:
        return total
    return n.Arith("+" if form.constant > 0 else "-", total, size, type_of(total))
