"""The age of messages in a rule: a condition on ``received``, in SQL and in Python alike.

It is decided as a list is read: messages grow older without anybody touching them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from django.db.models import Q

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import FLIPPED, walk

_LOOKUPS = {"=": "exact", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}

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


def age_query(condition: n.Condition, now: int, path: str = "received") -> Q:
    """Return the condition on a field of rows, at the instant ``now``."""
    match condition:
        case n.And(args):
            query = Q()
            for arg in args:
                query &= age_query(arg, now, path)
            return query
        case n.Or(args):
            first, *others = (age_query(arg, now, path) for arg in args)
            for other in others:
                first |= other
            return first
        case n.Not(arg):
            return ~age_query(arg, now, path)
    op, distance = _required(condition)
    return Q(**{f"{path}__{_LOOKUPS[op]}": now + distance})


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
    if not isinstance(condition, n.Compare) or condition.op not in _LOOKUPS:
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
