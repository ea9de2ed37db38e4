"""Multiply out to an OR of ANDs, EXISTS taken apart into the variables it binds."""

from __future__ import annotations

from itertools import product
from math import prod

from tapestry.core.errors import TapestryError
from tapestry.query.nodes import And, Compare, Condition, Exists, Not, Or, Truth
from tapestry.rewrite.analysis import is_plain, is_time, variables
from tapestry.rewrite.stages import Conjunction

MOST_DISJUNCTS = 256


def distribute(condition: Condition) -> tuple[Conjunction, ...]:
    """Return the disjuncts of a condition in which NOT is pushed inwards and now() isolated.

    Law: a row satisfies the condition just if it satisfies some disjunct.  EXISTS
    distributes over OR; NOT EXISTS over an OR is the AND of a NOT EXISTS for each part.
    An OR without subqueries about a single variable stays whole: to the paper it is one
    boolean expression, and it costs no second plan.  Raises TapestryError if multiplying
    everything out would give more than 256 conjunctions, those of NOT EXISTS included,
    before it does.
    """
    size = count(condition)[1]
    if size > MOST_DISJUNCTS:
        raise TapestryError(
            f"This filter comes to {_shown(size)} alternatives; "
            f"at most {MOST_DISJUNCTS} are allowed.",
            condition.span,
            "Install it as several filters, or replace ORs of equal comparisons by IN (…).",
        )
    return tuple(dict.fromkeys(_distribute(condition)))


def _shown(number: int) -> str:
    return str(number) if number < 10**6 else "over a million"


def count(condition: Condition) -> tuple[int, int]:
    """Return how many disjuncts the condition multiplies out to, and how many conjunctions.

    The second number counts those of NOT EXISTS too, in each disjunct that holds them.
    """
    match condition:
        case And(args=args):
            sizes = [count(arg) for arg in args]
            disjuncts = prod(own for own, _ in sizes)
            nested = sum((whole - own) * (disjuncts // own) for own, whole in sizes if own)
            return disjuncts, disjuncts + nested
        case Or(args=args):
            sizes = [count(arg) for arg in args]
            return sum(own for own, _ in sizes), sum(whole for _, whole in sizes)
        case Exists():
            return count(condition.condition)
        case Not(arg=Exists() as inner):
            return 1, 1 + count(inner.condition)[1]
    return 1, 1


def _distribute(condition: Condition) -> list[Conjunction]:
    match condition:
        case Truth(value=value):
            return [Conjunction((), (), (), ())] if value else []
        case And(args=args):
            return [_merge(parts) for parts in product(*map(_distribute, args))]
        case Or(args=args):
            if is_plain(condition) and len(variables(condition)) <= 1:
                return [Conjunction((), (condition,), (), ())]
            return [part for arg in args for part in _distribute(arg)]
        case Exists(bindings=bindings):
            own = Conjunction(bindings, (), (), ())
            return [_merge((own, part)) for part in _distribute(condition.condition)]
        case Not(arg=Exists(bindings=bindings) as inner):
            own = Conjunction(bindings, (), (), ())
            absent = [_merge((own, part)) for part in _distribute(inner.condition)]
            return [Conjunction((), (), (), tuple(dict.fromkeys(absent)))]
        case Compare() if is_time(condition):
            return [Conjunction((), (), (condition,), ())]
    return [Conjunction((), (condition,), (), ())]


def _merge(parts: tuple[Conjunction, ...]) -> Conjunction:
    def together(name: str) -> tuple[object, ...]:
        return tuple(dict.fromkeys(item for part in parts for item in getattr(part, name)))

    return Conjunction(*map(together, ("bindings", "plain", "times", "absent")))  # type: ignore[arg-type]
