"""Sums of instants and durations as linear forms: what ``now()`` is isolated by."""

from __future__ import annotations

from dataclasses import dataclass

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of instants, each with its integer coefficient, and a duration in microseconds."""

    terms: tuple[tuple[n.Term, int], ...]
    constant: int

    def coefficient(self, term: n.Term) -> int:
        return dict(self.terms).get(term, 0)


def linear(term: n.Term) -> Linear | None:
    """Return an instant or duration as a linear form, or None if it has none.

    ``coalesce(m.date, m.ts)`` and the like are opaque instants with coefficient 1.
    """
    if isinstance(term, n.Literal) and term.type is Type.DURATION:
        return Linear((), int(term.value or 0))
    if isinstance(term, n.Arith) and term.type in (Type.INSTANT, Type.DURATION):
        left, right = linear(term.left), linear(term.right)
        if left is None or right is None or term.op not in "+-":
            return None
        return add(left, right, 1 if term.op == "+" else -1)
    if isinstance(term, n.Now) or term.type is Type.INSTANT:
        return Linear(((term, 1),), 0)
    return None


def add(left: Linear, right: Linear, sign: int) -> Linear:
    """Return ``left + sign * right``."""
    total: dict[n.Term, int] = dict(left.terms)
    for term, count in right.terms:
        total[term] = total.get(term, 0) + sign * count
    terms = tuple((term, count) for term, count in total.items() if count)
    return Linear(terms, left.constant + sign * right.constant)
