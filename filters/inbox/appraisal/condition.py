"""Evaluate a condition of the filter language on a card: in SQL's three-valued logic.

The ages of messages are not decided here: filters.inbox.appraisal.age has them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol

from tapestry.plan.text_predicates import has_words, is_like
from tapestry.query.tree import nodes as n

COLUMNS = frozenset({"msgid", "ts", "received", "date", "sender", "sender_name", "subject"})
"""Columns of messages that a card has."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lower": str.lower,
    "upper": str.upper,
    "length": len,
    "trim": lambda text: text.strip(" "),
}

NODES = (
    *(n.And, n.Or, n.Not, n.Truth, n.Compare, n.Like, n.Has, n.IsNull, n.InList),
    *(n.Values, n.Column, n.Literal, n.Call),
)
"""What a condition may consist of; of calls, those of FUNCTIONS and coalesce."""

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Row(Protocol):
    """A message by its columns: a Card, or anything that has these."""

    msgid: Any
    ts: Any
    received: Any
    date: Any
    sender: Any
    sender_name: Any
    subject: Any


def holds(condition: n.Condition, row: Row) -> bool | None:
    """Return whether a condition holds for a message; None is SQL's unknown."""
    match condition:
        case n.Truth(value):
            return value
        case n.Not(arg):
            inner = holds(arg, row)
            return None if inner is None else not inner
        case n.And(args):
            return _every([holds(arg, row) for arg in args])
        case n.Or(args):
            none = _every([_negated(holds(arg, row)) for arg in args])
            return _negated(none)
        case n.IsNull(term):
            return _value(term, row) is None
    return _test(condition, row)


def _test(condition: n.Condition, row: Row) -> bool | None:
    match condition:
        case n.Compare(op, left, right):
            values = _value(left, row), _value(right, row)
            return None if None in values else _OPERATORS[op](*values)
        case n.Like(term, pattern):
            value = _value(term, row)
            return None if value is None else is_like(value, str(pattern.value))
        case n.Has(term, words):
            value = _value(term, row)
            return None if value is None else has_words(value, str(words.value))
        case n.InList(term, values):
            value = _value(term, row)
            return None if value is None else value in values.values
    raise TypeError(f"no condition on a card: {type(condition).__name__}")


def _value(term: n.Term, row: Row) -> Any:
    match term:
        case n.Column(_, name):
            value = getattr(row, name)
            return None if value == "" else value
        case n.Literal(value):
            return value
        case n.Call("coalesce", args):
            values = (_value(arg, row) for arg in args)
            return next((value for value in values if value is not None), None)
        case n.Call(name, (arg,)):
            value = _value(arg, row)
            return None if value is None else FUNCTIONS[name](value)
    raise TypeError(f"no term of a card: {type(term).__name__}")


def _every(truths: list[bool | None]) -> bool | None:
    if False in truths:
        return False
    return None if None in truths else True


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth
