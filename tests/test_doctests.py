"""The examples in the docstrings of every room are true."""

import doctest
import importlib
from pathlib import Path

import pytest

import filters
import tapestry

ROOMS_WITH_EXAMPLES = {
    "tapestry.core",
    "tapestry.deliver",
    "tapestry.ingest",
    "tapestry.plan",
    "tapestry.predicate_index",
    "tapestry.query",
    "tapestry.rewrite",
    "tapestry.run",
    "tapestry.spark",
    "tapestry.tables",
    "filters.bench",
    "filters.runtime",
    "filters.sources",
    "filters.store",
    "filters.templatetags",
}


def modules_with_examples():
    """Yield the name of every module of the product in whose text there is an example."""
    for package in (tapestry, filters):
        (root,) = map(Path, package.__path__)
        for path in sorted(root.rglob("*.py")):
            if ">>> " in path.read_text():
                inside = path.relative_to(root).with_suffix("").parts
                yield ".".join((package.__name__, *inside)).removesuffix(".__init__")


MODULES = list(modules_with_examples())


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert results.failed == 0


def test_every_room_that_has_something_to_show_has_examples():
    assert {".".join(name.split(".")[:2]) for name in MODULES} == ROOMS_WITH_EXAMPLES
