"""The examples in the docstrings of the rooms that need no server are true."""

import doctest
import importlib
import pkgutil

import pytest

ROOMS = ("core", "query", "rewrite", "plan", "ingest", "tables", "spark", "deliver")


def modules():
    for room in ROOMS:
        package = importlib.import_module(f"tapestry.{room}")
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            yield found.name


def examples(name):
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", [name for name in modules() if examples(name)])
def test_the_examples_of_a_module_are_true(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert results.failed == 0


def test_there_are_examples_in_every_room_that_has_something_to_show():
    rooms = {name.split(".")[1] for name in modules() if examples(name)}
    assert {"core", "query", "plan"} <= rooms
