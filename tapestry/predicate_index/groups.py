"""Classes: what many filters have in common and is evaluated once; and how they are found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tapestry.plan.predicate_keys import PredicateKey


@dataclass(frozen=True, slots=True, order=True)
class EvaluationGroup:
    """What filters that are alike in one disjunct share; ``audiences`` in alphabetical order."""

    signature: str
    constants: str
    audiences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A disjunct of a filter that belongs to a class."""

    filter_id: int
    revision: int
    disjunct: int
    of: EvaluationGroup


class IndexLookup(Protocol):
    """The index, as a run asks it."""

    def extractors(self) -> Mapping[str, Collection[int]]:
        """Return the offsets that are entered, by extractor."""

    def representatives(self) -> Mapping[str, str]:
        """Return the text of a filter for each signature."""

    def candidate_groups(
        self, keys: Collection[PredicateKey], present: Collection[str]
    ) -> list[EvaluationGroup]:
        """Return the classes that one of the keys wakes; of audiences only those present."""

    def members(self, some: Collection[EvaluationGroup], present: Collection[str]) -> list[Member]:
        """Return who belongs to these classes."""


def visible_audiences(audiences: Iterable[str], present: Collection[str]) -> tuple[str, ...]:
    """Return those of a filter's audiences that some row has, in alphabetical order."""
    return tuple(sorted(set(audiences).intersection(present)))
