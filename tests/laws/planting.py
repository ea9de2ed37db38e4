"""Plant a fault and search for it: what the files of planted faults share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from hypothesis import Phase
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.laws import filter_laws

BOUND = 3000
"""Examples within which a law must fail; the search is the same in every run."""

FEW = 20
"""Examples of one seed: those of the right seed have one on which the law fails."""


@contextmanager
def the_same_examples() -> Iterator[None]:
    """Have a seed draw the same whatever else is imported.

    Hypothesis also draws what stands in the modules that are: those of other tests, and of today.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", Constants)
        providers.CONSTANTS_CACHE.cache.clear()
        yield
    providers.CONSTANTS_CACHE.cache.clear()


@dataclass(frozen=True)
class Plant:
    """A fault, and the law that must catch it: over filters with aggregates, or without.

    One that is ``hidden`` takes four seconds and more to be found: `make test-long` looks for it.
    `make test` begins its search with ``seed``, which soon finds it.
    """

    law: filter_laws.Law
    plant: Callable[[pytest.MonkeyPatch], None]
    aggregates: bool | str
    hidden: bool
    seed: int

    @property
    def name(self) -> str:
        return self.plant.__name__

    def search(self, examples: int = BOUND, seeded: int | None = None) -> None:
        """Run the law until it fails; it is not made small, for nobody reads it."""
        with the_same_examples():
            filter_laws.check(
                self.law,
                examples,
                self.aggregates,
                seeded,
                phases=(Phase.generate,),
                derandomize=seeded is None,
                report_multiple_bugs=False,
            )

    def search_by_seeds(self) -> None:
        """Run the law on a few examples of its seed, then of the next; as many as in a search."""
        for number in range(self.seed, self.seed + BOUND // FEW):
            self.search(FEW, number)


class Plants(list[Plant]):
    """The faults of one file."""

    def __init__(self, aggregates: bool | str = False) -> None:
        super().__init__()
        self.aggregates = aggregates

    def caught_by(self, law: filter_laws.Law, *, hidden: bool = False, seed: int = 0):
        """Return the decorator that adds a fault which the law must catch."""

        def add(plant: Callable[[pytest.MonkeyPatch], None]):
            self.append(Plant(law, plant, self.aggregates, hidden, seed))
            return plant

        return add

    def params(self):
        """Return all faults as parameters of a test."""
        return [pytest.param(plant, id=plant.name) for plant in self]

    def soon_found(self):
        """Return those that are not hidden, as parameters of a test."""
        return [pytest.param(plant, id=plant.name) for plant in self if not plant.hidden]

    def one_for_each_law(self) -> list[Plant]:
        return list({plant.law: plant for plant in self}.values())
