"""Comparisons: which types compare, on which side a set stands, and where ``now()`` may be."""

from __future__ import annotations

from contextlib import suppress

from tapestry.core.clock import parse_instant
from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.terms import NOW_HINT, NUMERIC, a
from tapestry.query.limits import MAX_DURATION, too_long
from tapestry.query.tree import nodes as n
from tapestry.query.tree.linear import linear
from tapestry.query.tree.walk import FLIPPED, reads_now, type_of


def compare(op: str, left: n.Term, right: n.Term, span: Span | None) -> n.Compare:
    """Return a comparison of two typed terms, a set on its left; refuse what does not compare."""
    kinds = type_of(left), type_of(right)
    if kinds == (Type.SET, Type.SET):
        raise TapestryError(
            "Two sets cannot be compared.",
            span,
            "Compare each with a value, such as m.to = 'joe@example.org'.",
        )
    if kinds[1] is Type.SET:
        op, left, right = FLIPPED[op], right, left
    if not comparable(type_of(left), type_of(right)):
        raise _incomparable(left, right, span)
    if (reads_now(left) or reads_now(right)) and abs(_count_now(left) - _count_now(right)) > 1:
        raise TapestryError("now() stands here more than once on balance.", span, NOW_HINT)
    for term in (left, right):  # its durations together could leave the range of instants
        if type_of(term) in (Type.INSTANT, Type.DURATION) and _reach(term) > MAX_DURATION:
            raise too_long(term.span)
    return n.Compare(op, left, right, span=span)


def threshold(
    aggregate: n.Aggregate, op: str, constant: n.Literal, span: Span | None
) -> n.Threshold:
    """Return a comparison of an aggregate with a constant; refuse what does not compare."""
    if not comparable(aggregate.type, constant.type):
        message = (
            f"{aggregate.function} gives {a(aggregate.type)} here, which cannot be compared "
            f"with {a(constant.type)}."
        )
        raise TapestryError(message, constant.span or span, _COMPARED[aggregate.type])
    return n.Threshold(aggregate, op, constant, span=span)


_COMPARED = {
    Type.INTEGER: "Compare it with a number: COUNT(r: …) > 5.",
    Type.NUMBER: "Compare it with a number: SUM(a.number IN annotations: …) > 5.",
    Type.TEXT: "Compare it with a text in single quotes: MIN(r.sender: …) = 'joe@example.org'.",
    Type.INSTANT: "Compare it with an instant: MAX(r.ts: …) > TIMESTAMP '2026-01-31 12:00:00'.",
    Type.DURATION: "Compare it with a duration: MIN(r.ts - m.ts, r: …) < 1 hour.",
}


def comparable(left: Type, right: Type) -> bool:
    """Return whether values of two types can be compared."""
    if Type.NULL in (left, right) or (left in NUMERIC and right in NUMERIC):
        return True
    return left is right or {left, right} == {Type.SET, Type.TEXT}


def refuse_now(term: n.Term, where: str) -> None:
    """Refuse ``now()`` in a place that is no comparison."""
    if reads_now(term):
        raise TapestryError(f"now() cannot stand {where}.", term.span, NOW_HINT)


def in_list(term: n.Term, items: list[n.Term], span: Span | None) -> n.Condition:
    """Return ``term IN (items)``: an InList of the constants, ``=`` for the others."""
    listed = type_of(term) is not Type.NULL and not reads_now(term)
    tests: list[n.Condition] = []
    values: list[str | int | float] = []
    kinds: list[Type] = []
    for item in items:
        test = compare("=", term, item, item.span)
        if listed and isinstance(item, n.Literal) and item.value is not None:
            values.append(item.value)
            kinds.append(item.type)
        elif test not in tests:
            tests.append(test)
    if values:
        kind = Type.NUMBER if Type.NUMBER in kinds else kinds[0]
        if kind is Type.NUMBER:
            values = [float(value) for value in values]
        tests.insert(0, n.InList(term, n.Values(tuple(values), kind, span=span), span=span))
    return n.Or.of(tests, span)


def _incomparable(left: n.Term, right: n.Term, span: Span | None) -> TapestryError:
    kinds = {type_of(left), type_of(right)}
    message = f"{a(type_of(left))} cannot be compared with {a(type_of(right))}."
    hint = "Compare values of one type."
    if kinds == {Type.TEXT, Type.INSTANT}:
        text = next(term for term in (left, right) if type_of(term) is Type.TEXT)
        hint = f"Write an instant as TIMESTAMP '{_as_instant(text)}'."
    elif Type.INSTANT in kinds and Type.DURATION in kinds:
        hint = "Compare an age with a duration: now() - m.received > 2 weeks."
    elif Type.INSTANT in kinds and kinds & set(NUMERIC):
        hint = (
            "Write TIMESTAMP '2026-01-31 12:00:00', "
            "or compare an age: now() - m.received > 2 weeks."
        )
    elif Type.DURATION in kinds and kinds & set(NUMERIC):
        hint = "Compare an age with a duration and its unit: now() - m.received > 14 days."
    elif Type.TEXT in kinds and kinds & set(NUMERIC):
        hint = "Write texts between single quotes, and numbers without."
    return TapestryError(message[0].upper() + message[1:], span, hint)


def _as_instant(term: n.Term) -> str:
    if isinstance(term, n.Literal) and isinstance(term.value, str):
        with suppress(ValueError):
            parse_instant(term.value)
            return term.value
    return "2026-01-31 12:00:00"


def _count_now(term: n.Term) -> int:
    """Return how often ``now()`` counts in a sum of instants and durations."""
    form = linear(term)
    return form.coefficient(n.Now()) if form else 0


def _reach(term: n.Term) -> int:
    match term:
        case n.Arith():
            return _reach(term.left) + _reach(term.right)
        case n.Call():
            return max(_reach(arg) for arg in term.args)
        case n.Literal(type=Type.DURATION, value=int(value)):
            return abs(value)
    return 0
