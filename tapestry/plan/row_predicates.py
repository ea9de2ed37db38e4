"""Conditions in Python, of one row at hand: SQL's three-valued logic, None for unknown.

Law (``tests/laws/test_row_predicates.py``): a condition without a subquery has the truth that the
oracle of the tests gives it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from tapestry.plan import sql
from tapestry.plan.text_predicates import has_words, is_like
from tapestry.query.tree import nodes as n

Row = Mapping[str, Any]
"""The values of columns by their names; None is NULL, and a set is a list."""

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right if right else None,
    "lower": str.lower,
    "upper": str.upper,
    "length": len,
    "trim": lambda text: text.strip(" "),
    "substr": lambda text, start, size=None: text[start - 1 :][:size],
}


def holds(condition: n.Condition, row: Row, now: int) -> bool | None:
    """Return whether a condition on the row of a message holds at the instant ``now``.

    Raises TypeError for a subquery.

    >>> from tapestry.rewrite.examples import condition
    >>> joe = condition("m.sender HAS 'joe' AND m.date < now()")
    >>> [holds(joe, {"sender": "Joe@x.org", "date": date}, 8) for date in (7, 8, None)]
    [True, False, None]
    """
    test: Callable[[Any, Any], bool]
    sides: tuple[n.Term, n.Term | n.Values]
    match condition:
        case n.Truth(truth):
            return truth
        case n.Not(arg):
            return _negated(holds(arg, row, now))
        case n.And(args):
            return _negated(_any(_negated(holds(arg, row, now)) for arg in args))
        case n.Or(args):
            return _any(holds(arg, row, now) for arg in args)
        case n.IsNull(term):
            return value_of(term, row, now) is None
        case n.Compare(op, left, right):
            test, sides = getattr(operator, sql.NAMES[op]), (left, right)
        case n.Like(term, pattern):
            test, sides = is_like, (term, pattern)
        case n.Has(term, words):
            test, sides = has_words, (term, words)
        case n.InList(term, values):
            test, sides = (lambda one, among: one in among), (term, values)
        case _:
            raise TypeError(f"not of one row: {type(condition).__name__}")
    return _test(test, *(value_of(side, row, now) for side in sides))


def _test(test: Callable[[Any, Any], bool], value: Any, constant: Any) -> bool | None:
    """Return what a test of a value gives, or of some element of a set."""
    if isinstance(value, list | tuple):
        return _any(_test(test, element, constant) for element in value)
    return None if value is None or constant is None else test(value, constant)


def value_of(term: n.Term | n.Values, row: Row, now: int) -> Any:
    """Return the value of a term at the instant ``now``."""
    match term:
        case n.Column(_, name):
            return row[name]
        case n.Literal(value) | n.Values(value):
            return value
        case n.Now():
            return now
        case n.Arith(name, left, right):
            values = [value_of(left, row, now), value_of(right, row, now)]
            return None if None in values else within_range(_FUNCTIONS[name](*values))
        case n.Case(condition, value, otherwise):
            return value_of(value if holds(condition, row, now) else otherwise, row, now)
        case n.Call(name, args):
            values = [value_of(arg, row, now) for arg in args]
    if name == "coalesce":
        return next((value for value in values if value is not None), None)
    return None if None in values else _FUNCTIONS[name](*values)


def within_range(number: Any) -> Any:
    """Return a number, or None for one that no 64 bits hold: it is as unknown as 1 / 0.

    >>> [within_range(number) for number in (2**63 - 1, 2**63, 1e308 * 10, 0.5)]
    [9223372036854775807, None, None, 0.5]
    """
    if isinstance(number, float):
        return number if isfinite(number) else None
    return number if number is None or -(2**63) <= number < 2**63 else None


def _any(truths: Iterable[bool | None]) -> bool | None:
    unknown = False
    for truth in truths:
        if truth:
            return True
        unknown = unknown or truth is None
    return None if unknown else False


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth
