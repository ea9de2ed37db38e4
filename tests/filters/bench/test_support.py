"""The examples in the docstrings of what the measurements share are true."""

import doctest

import pytest

from tests.bench.support import curve, population, record, texts


@pytest.mark.parametrize("module", [curve, population, record, texts])
def test_the_examples_of_a_module_are_true(module):
    results = doctest.testmod(module)
    assert results.attempted
    assert results.failed == 0
