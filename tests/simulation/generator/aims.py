"""What has not met yet in a world: features of the language, and what happens to a site.

Each world has an order of the features, and wants the first of them most.  The orders of worlds of
consecutive seeds begin at places that divide the features evenly: few worlds make all meet.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from tests.simulation.coverage import EVENTS, Scene, features

GOLDEN = 0.6180339887498949
"""Steps of this part of a circle divide it evenly, however many there are."""

Candidate = TypeVar("Candidate")


class Aims:
    """Follows the history of a world, and says what it lacks."""

    def __init__(self, seed: int, entries: list[dict[str, Any]]) -> None:
        names = features()
        random.Random("the order of the features").shuffle(names)
        first = int(seed * GOLDEN % 1 * len(names))
        self.order = names[first:] + names[:first]
        self.wanted = {name: len(names) - place for place, name in enumerate(self.order)}
        self.scene = Scene()
        self._entries, self._read = entries, 0
        self._met = set[tuple[str, str]]()

    def lacks(self, event: str, keys: Iterable[int] | None = None) -> int:
        """Return how much has not met an event of what filters say, all that run if not told."""
        self._follow()
        chosen = self.scene.running() if keys is None else self.scene.filters.keys() & keys
        told = (self.scene.filters[key].get("features") or () for key in chosen)
        said = {name for names in told for name in names if (name, event) not in self._met}
        return sum(self.wanted.get(name, 0) for name in said) if event in EVENTS else 0

    def of(self, person: str) -> set[int]:
        """Return the filters of a person that run."""
        self._follow()
        return self.scene.of(person)

    def _follow(self) -> None:
        new, self._read = self._entries[self._read :], len(self._entries)
        for entry in new:
            self._met |= {(name, event) for name, _, event in self.scene.meetings(entry)}


def best(
    lots: random.Random,
    candidates: Sequence[Candidate],
    worth: Callable[[Candidate], int],
    often: float = 0.8,
) -> Candidate:
    """Return a candidate that is worth most so often, and else any.

    >>> sum(best(random.Random(seed), (2, 7, 5), lambda number: number) == 7 for seed in range(99))
    89
    """
    if lots.random() >= often:
        return lots.choice(candidates)
    return max(lots.sample(candidates, len(candidates)), key=worth)
