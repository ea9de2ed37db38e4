"""Plant a fault and search for it: what the files of planted faults share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import Phase

from tests.laws import filter_laws

BOUND = 3000
"""Examples within which a law must fail; the search is the same in every run."""


@dataclass(frozen=True)
class Plant:
    """A fault, and the law that must catch it: over filters with aggregates, or without.

    One that is ``hidden`` takes four seconds and more to be found: `make test-long` looks for it.
    """

    law: filter_laws.Law
    plant: Callable[[pytest.MonkeyPatch], None]
    aggregates: bool
    hidden: bool

    @property
    def name(self) -> str:
        return self.plant.__name__

    def search(self, examples: int = BOUND) -> None:
        """Run the law until it fails; it is not made small, for nobody reads it."""
        filter_laws.check(
            self.law,
            examples,
            self.aggregates,
            phases=(Phase.generate,),
            derandomize=True,
            report_multiple_bugs=False,
        )


class Plants(list[Plant]):
    """The faults of one file."""

    def __init__(self, aggregates: bool = False) -> None:
        super().__init__()
        self.aggregates = aggregates

    def caught_by(self, law: filter_laws.Law, *, hidden: bool = False):
        """Return the decorator that adds a fault which the law must catch."""

        def add(plant: Callable[[pytest.MonkeyPatch], None]):
            self.append(Plant(law, plant, self.aggregates, hidden))
            return plant

        return add

    def params(self):
        """Return the faults as parameters of a test."""
        return [
            pytest.param(plant, id=plant.name, marks=[pytest.mark.long] * plant.hidden)
            for plant in self
        ]

    def one_for_each_law(self) -> list[Plant]:
        return list({plant.law: plant for plant in self}.values())
