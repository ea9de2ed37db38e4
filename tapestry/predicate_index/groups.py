"""Evaluation groups: filters that ask the same and see the same share one evaluation.

predicate keys ─ candidate_groups ─> groups ─ evaluate once each ─> answers ─ members ─> filters
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tapestry.plan.predicate_keys import PredicateKey


@dataclass(frozen=True, slots=True, order=True)
class EvaluationGroup:
    """What the disjuncts of its members have in common.

    ``constants`` is JSON, in slot order; ``audiences`` are those that some row has, in
    alphabetical order.
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


class IndexLookup(Protocol):
    """Looks up the predicate index; ``present`` are the audiences that some row has."""

    def extractors(self) -> Mapping[str, Collection[int]]:
        """Return the offsets that are entered, by the name of their key extractor."""

    def representatives(self) -> Mapping[str, str]:
        """Return the text of a filter for each signature."""

    def candidate_groups(
        self, keys: Collection[PredicateKey], present: Collection[str]
    ) -> list[EvaluationGroup]:
        """Return the groups that have one of the keys, in order."""

    def members(
        self, groups: Collection[EvaluationGroup], present: Collection[str]
    ) -> list[Member]:
        """Return the disjuncts of filters that belong to the groups."""


def visible_audiences(audiences: Iterable[str], present: Collection[str]) -> tuple[str, ...]:
    """Return those of a filter's audiences that some row has, in alphabetical order.

    >>> visible_audiences(("user:ann", "public", "group:parc"), {"public", "user:ann"})
    ('public', 'user:ann')
    """
    return tuple(sorted(set(audiences).intersection(present)))
