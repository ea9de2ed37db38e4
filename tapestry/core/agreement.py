"""Agreement of two people: the share of votes alike, of those on the same messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tapestry.core.message import Annotation

MIN_IN_COMMON = 3
"""Votes in common from which on it is said how often two people agree."""

SHARE = 0.7
"""The share of votes in common above which phrases take two people for of one mind."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Messages on which somebody voted as a person did, and those on which they did not."""

    person: str
    agreed: tuple[str, ...]
    disagreed: tuple[str, ...]

    @property
    def in_common(self) -> int:
        """Return how many votes there are in common."""
        return len(self.agreed) + len(self.disagreed)

    @property
    def share(self) -> float:
        """Return the share of votes alike, from 0 to 1."""
        return len(self.agreed) / self.in_common

    @property
    def counts(self) -> bool:
        """Return whether phrases say of this person that they agree."""
        return Fraction(len(self.agreed), self.in_common) > Fraction(repr(SHARE))


def is_vote(annotation: Annotation) -> bool:
    """Return whether an annotation is for a message, or against it."""
    return annotation.kind == "vote" and annotation.number in (1, -1)


def agreements(votes: Iterable[Annotation], person: str) -> list[Agreement]:
    """Return who has votes in common with a person, enough of them; who agrees most is first.

    Of votes that stand, in any order; law: ``AGREES`` compares the same shares.

    >>> votes = [("a", 1), ("b", 1), ("c", 1), ("c", -1)]
    >>> both = [Annotation("", m, who, "vote", None, n) for m, n in votes for who in ("ann", "bob")]
    >>> [(found.person, found.share) for found in agreements(both, "ann")]
    [('bob', 0.6666666666666666)]
    """
    mine: dict[str, list[float | None]] = defaultdict(list)
    others: list[Annotation] = []
    for vote in filter(is_vote, votes):
        if vote.owner == person:
            mine[vote.msgid].append(vote.number)
        else:
            others.append(vote)
    alike: dict[str, list[str]] = defaultdict(list)
    unlike: dict[str, list[str]] = defaultdict(list)
    for vote in others:
        for number in mine.get(vote.msgid, ()):
            (alike if number == vote.number else unlike)[vote.owner].append(vote.msgid)
    people = alike.keys() | unlike.keys()
    found = [Agreement(who, tuple(alike[who]), tuple(unlike[who])) for who in people]
    enough = [agreement for agreement in found if agreement.in_common >= MIN_IN_COMMON]
    return sorted(enough, key=lambda it: (-it.share, -it.in_common, it.person))
