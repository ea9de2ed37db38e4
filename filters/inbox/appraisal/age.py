"""The age of messages in a rule: a condition on ``received`` and now.

It is decided as a list is read: messages grow older without anybody touching them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import FLIPPED, walk

_OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_age(condition: n.Condition) -> bool:
    """Tell whether a condition is about nothing but the age of a message, as this room has it."""
    match condition:
        case n.And(args) | n.Or(args):
            return all(map(is_age, args))
        case n.Not(arg):
            return is_age(arg)
        case n.Compare():
            return _bound(condition) is not None
    return False


def says_now(condition: n.Condition) -> bool:
    return any(isinstance(node, n.Now) for node in walk(condition))


def turns(condition: n.Condition, now: int) -> set[int]:
    """Return the instants of ``received`` from which on the condition may hold, or hold no more.

    Between two of them it holds for all messages or for none, at the instant ``now``.
    """
    match condition:
        case n.And(args) | n.Or(args):
            return {instant for arg in args for instant in turns(arg, now)}
        case n.Not(arg):
            return turns(arg, now)
    _, distance = _required(condition)
    return {now + distance, now + distance + 1}


def has_age(condition: n.Condition, received: int, now: int) -> bool:
    """Tell whether a message that was received at an instant has the age, at another."""
    match condition:
        case n.And(args):
            return all(has_age(arg, received, now) for arg in args)
        case n.Or(args):
            return any(has_age(arg, received, now) for arg in args)
        case n.Not(arg):
            return not has_age(arg, received, now)
    op, distance = _required(condition)
    return _OPERATORS[op](received, now + distance)


def _required(condition: n.Condition) -> tuple[str, int]:
    bound = _bound(condition)
    if bound is None:
        raise TypeError(f"no age: {condition}")
    return bound


def _bound(condition: n.Condition) -> tuple[str, int] | None:
    """Return the operator, and the distance from now, to which ``received`` is compared."""
    if not isinstance(condition, n.Compare) or condition.op not in _OPERATORS:
        return None
    left, right, op = condition.left, condition.right, condition.op
    if isinstance(right, n.Column):
        left, right, op = right, left, FLIPPED[op]
    if not isinstance(left, n.Column) or left.name != "received":
        return None
    match right:
        case n.Now():
            return op, 0
        case n.Arith(sign, n.Now(), n.Literal(int() as length, Type.DURATION)) if sign in "+-":
            return op, -length if sign == "-" else length
    return None
