"""Bring every time comparison to the form ``now() op e``."""

from __future__ import annotations

from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.core.schema import Type
from tapestry.query.tree.nodes import (
    And,
    Arith,
    Column,
    Compare,
    Condition,
    IsNull,
    Literal,
    Not,
    Now,
    Or,
    Term,
)
from tapestry.query.tree.walk import FLIPPED, Linear, add, change_conditions, linear, reads_now


def isolate_now(condition: Condition) -> Condition:
    """Return the condition with ``now()`` alone on the left of ``< <= > >=``, e on the right.

    Law: the condition has the same value, unknown included, for every binding and instant:
    terms move across the sign, ``=`` is ``>= AND <=`` and ``<>`` is ``< OR >`` (section 4.2
    of the paper).  Where ``now()`` stands on both sides it cancels; so does a column, but
    where it can be NULL its being there stays a condition (NOT does not stand above it).
    """
    return change_conditions(condition, _isolate)


def _isolate(node: Condition) -> Condition:
    if not isinstance(node, Compare) or not (reads_now(node.left) or reads_now(node.right)):
        return node
    moved = _move(node)
    gone = _instants(node) - _instants(moved)
    there = [Not(IsNull(term)) for term in gone if not _always_there(term)]
    return And((moved, *there), span=node.span) if there else moved


def _instants(node: Any) -> frozenset[Term]:
    """Return the opaque instants that the arithmetic of a comparison adds up."""
    match node:
        case Compare(left=left, right=right) | Arith(left=left, right=right):
            return _instants(left) | _instants(right)
        case And(args=args) | Or(args=args):
            return frozenset().union(*map(_instants, args))
        case Literal() | Now():
            return frozenset()
    return frozenset((node,))


def _always_there(term: Term) -> bool:
    return isinstance(term, Column) and term.name == "ts"


def _move(node: Compare) -> And | Or | Compare:
    left, right = linear(node.left), linear(node.right)
    if left is None or right is None:
        raise TapestryError(
            "now() can only be compared with instants and durations.",
            node.span,
            "Write for example m.ts < now() - 2 weeks.",
        )
    form = add(left, right, -1)
    count = form.coefficient(Now())
    rest = Linear(tuple(t for t in form.terms if not isinstance(t[0], Now)), form.constant)
    if count == 0:
        return _without_now(node, rest)
    if abs(count) > 1:
        raise TapestryError(
            "now() cannot be multiplied.", node.span, "Let it stand once: m.ts < now() - 2 weeks."
        )
    if count == 1:
        op, bound = node.op, add(Linear((), 0), rest, -1)
    else:
        op, bound = FLIPPED[node.op], rest
    e = build(bound)
    if op == "=":
        return And((Compare(">=", Now(), e), Compare("<=", Now(), e)), span=node.span)
    if op == "<>":
        return Or((Compare("<", Now(), e), Compare(">", Now(), e)), span=node.span)
    return Compare(op, Now(), e, span=node.span)


def _without_now(node: Compare, rest: Linear) -> Compare:
    """Return the comparison of a linear form with zero, negative terms moved to the right."""
    plus = tuple((t, n) for t, n in rest.terms if n > 0)
    minus = tuple((t, -n) for t, n in rest.terms if n < 0)
    if sum(n for _, n in plus) == sum(n for _, n in minus) == 1:
        left: Term = plus[0][0]
        right = build(Linear(minus, -rest.constant))
    else:
        left = build(Linear(rest.terms, 0)) if rest.terms else Literal(0, Type.DURATION)
        right = Literal(-rest.constant, Type.DURATION)
    return Compare(node.op, left, right, span=node.span)


def build(form: Linear) -> Term:
    """Return a linear form as a term: instants first, then one duration."""
    plus = [t for t, n in form.terms for _ in range(n)]
    minus = [t for t, n in form.terms for _ in range(-n)]
    whole: Term | None = plus.pop(0) if len(plus) > len(minus) else None
    for up, down in zip(plus, minus, strict=True):
        gap = Arith("-", up, down, Type.DURATION)
        whole = gap if whole is None else Arith("+", whole, gap, _type(whole))
    size = Literal(abs(form.constant), Type.DURATION)
    if whole is None:
        return Literal(form.constant, Type.DURATION)
    if form.constant == 0:
        return whole
    return Arith("+" if form.constant > 0 else "-", whole, size, _type(whole))


def _type(term: Term) -> Type:
    return Type.INSTANT if isinstance(term, Now) else term.type
