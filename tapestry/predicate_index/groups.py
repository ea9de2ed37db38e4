"""Evaluation groups, for shared evaluation: filters that ask and see the same are evaluated once.

predicate keys ─ candidate_groups ─> groups ─ evaluate once each ─> answers ─ members ─> filters
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class EvaluationGroup:
    """The properties that the disjuncts of its members have in common.

    ``constants`` is JSON, in slot order; ``audiences`` are those that some row has, in
    alphabetical order.  As a filter is entered, they are all that its owner may see.
    """

    signature: str
    constants: str
    audiences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A disjunct of a filter, as one revision of the filter was entered, and its group."""

    filter_id: int
    revision: int
    disjunct: int
    group: EvaluationGroup


def visible_audiences(audiences: Iterable[str], present: Collection[str]) -> tuple[str, ...]:
    """Return those of a filter's audiences that some row has, in alphabetical order.

    >>> visible_audiences(("user:ann", "public", "group:parc"), {"public", "user:ann"})
    ('public', 'user:ann')
    """
    return tuple(sorted(set(audiences).intersection(present)))
