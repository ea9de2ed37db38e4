"""The examples in the docstrings are true, and every public function of rewrite has some."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import filters
import tapestry
from tapestry import rewrite

ROOMS_WITH_EXAMPLES = {
    "tapestry.client",
    "tapestry.compose",
    "tapestry.core",
    "tapestry.deliver",
    "tapestry.embedded",
    "tapestry.identity",
    "tapestry.ingest",
    "tapestry.mime",
    "tapestry.plan",
    "tapestry.predicate_index",
    "tapestry.query",
    "tapestry.rewrite",
    "tapestry.run",
    "tapestry.servers",
    "tapestry.spark",
    "tapestry.tables",
    "filters.api",
    "filters.authoring",
    "filters.compose",
    "filters.delivery",
    "filters.imap",
    "filters.inbox",
    "filters.jmap",
    "filters.people",
    "filters.reading",
    "filters.runs",
    "filters.site",
    "filters.sources",
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


def public_functions(module):
    """Yield every public function of a module, and every public method and property."""
    for name, member in vars(module).items():
        if name.startswith("_") or getattr(member, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(member):
            for attribute, value in vars(member).items():
                function = value.fget if isinstance(value, property) else inspect.unwrap(value)
                if not attribute.startswith("_") and inspect.isroutine(function):
                    yield f"{name}.{attribute}", function
        elif inspect.isroutine(member):
            yield name, member


def test_every_public_function_of_rewrite_has_an_example():
    packages = pkgutil.walk_packages(rewrite.__path__, rewrite.__name__ + ".")
    functions = {
        f"{package.name}.{name}": function
        for package in packages
        for name, function in public_functions(importlib.import_module(package.name))
    }
    assert "tapestry.rewrite.stages.EventPoint.anchor" in functions
    assert "tapestry.rewrite.normal.push_not.push_not" in functions
    assert [name for name, f in functions.items() if ">>> " not in (f.__doc__ or "")] == []
