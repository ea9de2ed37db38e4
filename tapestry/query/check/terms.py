"""Types of terms; constants computed; what a function takes and gives.

A new function of the language is a line of ``_FUNCTIONS`` and a case of ``_call`` here; a line of
``_FUNCTIONS`` in plan/row_predicates.py, for rows in Python; and what the dialect of each engine
makes of it (spark/dialect.py, embedded/functions.py).  In the tests, what it means is said again
in support/oracle/queries.py, support/engines/nested_loops.py and simulation/auditor/values.py,
which know nothing of the product; support/generators/random_filters.py writes filters with it.
"""

from __future__ import annotations

import math
import operator

from tapestry.core.clock import to_datetime
from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import Type
from tapestry.query.check.scope import Scope, advice
from tapestry.query.limits import MAX_DURATION, MAX_INTEGER, too_long
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import columns_of, reads_now, type_of

NUMERIC = (Type.INTEGER, Type.NUMBER)

_FUNCTIONS = {
    "lower": Type.TEXT,
    "upper": Type.TEXT,
    "trim": Type.TEXT,
    "length": Type.INTEGER,
    "substr": Type.TEXT,
    "coalesce": Type.NULL,
}


_COMPUTE = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def a(kind: Type) -> str:
    """Return a type with its article, as a sentence has it."""
    if kind is Type.NULL:
        return "NULL"
    return f"{'an' if kind.value[0] in 'ai' else 'a'} {kind.value}"


def typed(term: n.Term, scope: Scope) -> n.Term:
    """Return a term with its names resolved, its types known and its constants computed.

    Of type SET is only a column itself.
    """
    match term:
        case n.Column():
            return scope.column(term)
        case n.Arith():
            left, right = scalar(term.left, scope), scalar(term.right, scope)
            return _arith(term.op, left, right, term.span)
        case n.Call():
            return _call(term, scope)
        case n.Fold():
            raise TypeError("an aggregate is no value of a row")
        case n.Over():
            hint = "Compare it with a value: LAG(m.sender) OVER (…) = 'joe@example.org'."
            raise TapestryError("A window function cannot stand here.", term.span, hint)
        case _:
            return term


def scalar(term: n.Term, scope: Scope) -> n.Term:
    """Return ``typed(term)``; refuse a set, which only comparisons take."""
    checked = typed(term, scope)
    if isinstance(checked, n.Column) and checked.type is Type.SET:
        raise TapestryError(
            f"{checked.name} is a set, and only comparisons take one.",
            checked.span,
            f"Compare the column itself, such as {checked.var}.{checked.name} = '…'.",
        )
    return checked


def aggregated_term(aggregate: n.Aggregate, scope: Scope, own: set[str]) -> n.Term:
    """Return the checked term of an aggregate whose variables are ``own``."""
    assert aggregate.term is not None
    name, term = aggregate.function, typed(aggregate.term, scope)
    kind = type_of(term)
    if kind is Type.SET:
        raise TapestryError(
            f"{name} cannot take a set.", term.span, "Count the rows: COUNT(r: r.to = 'joe@x.org')."
        )
    if reads_now(term):
        hint = "Put it into the condition: COUNT(a IN annotations: a.ts > now() - 1 week)."
        raise TapestryError(f"now() cannot stand in what {name} is of.", term.span, hint)
    if not own & {column.var for column in columns_of(term)}:
        raise TapestryError(
            f"{name} is not of the rows that it ranges over.",
            term.span,
            "Name a column of one of them, such as SUM(a.number IN annotations: …).",
        )
    if name in ("SUM", "AVG") and kind not in NUMERIC:
        message = f"{name} takes numbers, not {a(kind)}."
        raise TapestryError(message, term.span, "MIN and MAX take this, and COUNT does.")
    if kind is Type.NULL:
        raise TapestryError("This is always NULL.", term.span, "Name a column.")
    return term


def aggregate_type(function: str, term: n.Term | None) -> Type:
    """Return the type of an aggregate of a checked term."""
    if function in ("SHARE", "AVG"):
        return Type.NUMBER
    return Type.INTEGER if function in ("COUNT", "NTILE") or term is None else type_of(term)


def _call(call: n.Call, scope: Scope) -> n.Term:
    name = "substr" if call.name == "substring" else call.name
    if name == "-":
        return _negative(scalar(call.args[0], scope), call.span)
    if name not in _FUNCTIONS:
        raise _unknown_function(call)
    args = tuple(scalar(arg, scope) for arg in call.args)
    for arg in args:
        if reads_now(arg):
            message = f"now() cannot stand inside {name}()."
            raise TapestryError(message, arg.span, NOW_HINT)
    if name == "coalesce":
        return n.Call(name, args, _common(args, call.span), span=call.span)
    if name == "substr" and len(args) not in (2, 3):
        message = "substr() takes a text, a position and perhaps a length."
        raise TapestryError(message, call.span, "Write substr(m.subject, 1, 3).")
    if name != "substr" and len(args) != 1:
        raise TapestryError(f"{name}() takes one text.", call.span, f"Write {name}(m.subject).")
    if type_of(args[0]) is not Type.TEXT:
        message = f"{name}() takes a text, not {a(type_of(args[0]))}."
        raise TapestryError(message, args[0].span, "Give it a column such as m.subject.")
    for least, arg in enumerate(reversed(args[1:])) if len(args) == 3 else [(1, args[-1])]:
        if name == "substr":
            _check_position(arg, least)
    return n.Call(name, args, _FUNCTIONS[name], span=call.span)


NOW_HINT = (
    "now() can be compared as in m.received < now() - 2 weeks, or now() - m.received > 14 days."
)


def _unknown_function(call: n.Call) -> TapestryError:
    message = f"{call.name[:40]}() is not a function of the language."
    if any(reads_now(arg) for arg in call.args):
        return TapestryError(message, call.span, NOW_HINT)
    if call.name == "has":
        return TapestryError("has() takes a column and words.", call.span, "Write m.body HAS '…'.")
    names = (*_FUNCTIONS, "has", "now")
    return TapestryError(message, call.span, advice(call.name, names, "The functions are"))


def _check_position(arg: n.Term, least: int) -> None:
    if isinstance(arg, n.Literal) and isinstance(arg.value, int) and arg.type is Type.INTEGER:
        if arg.value >= least:
            return
        message = f"substr() takes {'positions from 1' if least else 'lengths from 0'}."
    else:
        message = f"The {'position' if least else 'length'} of substr() must be an integer."
    raise TapestryError(message, arg.span, "Write substr(m.subject, 1, 3).")


def _common(args: tuple[n.Term, ...], span: Span | None) -> Type:
    if len(args) < 2:
        raise TapestryError(
            "coalesce() takes two values or more.", span, "Write coalesce(m.date, m.ts)."
        )
    types = [type_of(arg) for arg in args if type_of(arg) is not Type.NULL]
    if not types:
        return Type.NULL
    if all(kind in NUMERIC for kind in types):
        return Type.INTEGER if set(types) == {Type.INTEGER} else Type.NUMBER
    for arg in args:
        if type_of(arg) not in (types[0], Type.NULL):
            message = f"coalesce() cannot choose between {a(types[0])} and {a(type_of(arg))}."
            raise TapestryError(message, arg.span, "Give it values of one type.")
    return types[0]


def _negative(term: n.Term, span: Span | None) -> n.Term:
    kind = type_of(term)
    if isinstance(term, n.Literal) and isinstance(term.value, int | float) and kind in _NEGATIVE:
        return constant(-term.value, kind, span)
    if kind is Type.NULL:
        return term
    if kind not in _NEGATIVE:
        raise TapestryError(
            f"“-” takes a number or a duration, not {a(kind)}.", span, "Leave it out."
        )
    return _arith("-", n.Literal(0, kind if kind is Type.DURATION else Type.INTEGER), term, span)


_NEGATIVE = (*NUMERIC, Type.DURATION)


def _arith(op: str, left: n.Term, right: n.Term, span: Span | None) -> n.Term:
    kinds = type_of(left), type_of(right)
    kind = _result(op, *kinds, left, right)
    if kind is None:
        raise _no_arith(op, *kinds, span)
    if Type.NULL in kinds:
        return n.Literal(None, Type.NULL, span=span)
    if isinstance(left, n.Literal) and isinstance(right, n.Literal) and op != "/":
        assert isinstance(left.value, int | float) and isinstance(right.value, int | float)
        return constant(_COMPUTE[op](left.value, right.value), kind, span)
    if kinds == (Type.DURATION, Type.INSTANT):
        left, right = right, left
    return n.Arith(op, left, right, kind, span=span)


def _result(op: str, left: Type, right: Type, *terms: n.Term) -> Type | None:
    numbers = left in NUMERIC and right in NUMERIC
    if op == "/":
        return Type.NUMBER if numbers or left is right is Type.DURATION else None
    if numbers:
        return Type.INTEGER if left is right is Type.INTEGER else Type.NUMBER
    arithmetic = (*NUMERIC, Type.INSTANT, Type.DURATION, Type.NULL)
    if Type.NULL in (left, right) and left in arithmetic and right in arithmetic:
        return Type.NULL
    constant = all(isinstance(term, n.Literal) for term in terms)
    match op, left, right:
        case ("+" | "-", Type.DURATION, Type.DURATION):
            return Type.DURATION
        case ("+" | "-", Type.INSTANT, Type.DURATION) | ("+", Type.DURATION, Type.INSTANT):
            return Type.INSTANT
        case ("-", Type.INSTANT, Type.INSTANT):
            return Type.DURATION
        case ("*", Type.DURATION, _) if constant and right in NUMERIC:
            return Type.DURATION
        case ("*", _, Type.DURATION) if constant and left in NUMERIC:
            return Type.DURATION
        case _:
            return None


def _no_arith(op: str, left: Type, right: Type, span: Span | None) -> TapestryError:
    message = f"“{op}” cannot take {a(left)} and {a(right)}."
    hint = "Arithmetic is for numbers, instants and durations."
    if {left, right} & {Type.INSTANT, Type.DURATION} and {left, right} & set(NUMERIC):
        hint = "Give the number a unit, such as 14 days."
        if op == "*":
            hint = "Write the duration out, such as 4 weeks."
    elif {left, right} & {Type.INSTANT, Type.DURATION} and Type.TEXT in (left, right):
        hint = "Write an instant as TIMESTAMP '2026-01-31 12:00:00'."
    return TapestryError(message, span, hint)


def constant(value: float, kind: Type, span: Span | None) -> n.Literal:
    """Return a literal; refuse what no column could hold."""
    if kind is Type.NUMBER:
        value = float(value)
        if not math.isfinite(value):
            raise TapestryError("This number is too large.", span, "Write a smaller one.")
        return n.Literal(value, kind, span=span)
    if isinstance(value, float):
        if not abs(value) <= MAX_DURATION:
            raise too_long(span)
        value = round(value)
    if kind is Type.INTEGER and not -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
        message = f"The largest integer is {MAX_INTEGER}."
        raise TapestryError("This number is beyond 64 bits.", span, message)
    if kind is Type.DURATION and abs(value) > MAX_DURATION:
        raise too_long(span)
    if kind is Type.INSTANT:
        try:
            to_datetime(value)
        except OverflowError:
            hint = "Stay between the years 1 and 9999."
            raise TapestryError("This instant is out of range.", span, hint) from None
    return n.Literal(value, kind, span=span)
