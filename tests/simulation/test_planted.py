"""The planted faults are faults of the present source."""

from __future__ import annotations

import builtins
import dis
from collections.abc import Iterator
from types import CodeType

import pytest

from tests.simulation.plants import PLANTS, plant


@pytest.mark.parametrize("name", PLANTS)
def test_a_fault_can_be_planted_in_the_present_source(name: str) -> None:
    planted = PLANTS[name]
    function, faulty = plant.function_of(planted), plant.faulty_code(planted)
    assert faulty != function.__code__
    assert set(_globals(faulty)) <= function.__globals__.keys() | vars(builtins).keys()


def test_the_places_of_all_faults_can_be_watched() -> None:
    assert len(list(plant.marked(tuple(PLANTS.values())))) <= len(PLANTS)


def _globals(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)
