"""Aggregates that are defined in SQL: all laws of filters that count, and what one comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.plan import folding
from tapestry.query.tql.parser import parse_definition
from tests.laws import change_laws, filter_laws
from tests.laws.filter_laws import QUICK
from tests.support.engines import folds
from tests.support.generators.definitions import definitions
from tests.support.generators.values import one_of

LAWS = {
    law: examples
    for law, examples in (filter_laws.LAWS | change_laws.LAWS).items()
    if not law.__name__.startswith("every_count")
}
by_name = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)


@by_name
def test_law(law):
    filter_laws.check(law, max(3, LAWS[law] // 2), aggregates="defined")


@pytest.mark.long
@by_name
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 100 * LAWS[law], aggregates="defined")


NUMBERS = one_of(0, 1, -1, 2, 3, 2**62, None)
ROWS = st.lists(st.tuples(one_of(0.0, 1.0, -1.0, 0.5, 2.5, 1e200, None), NUMBERS), max_size=6)


@QUICK
@given(definitions(), ROWS)
def test_a_definition_as_it_is_printed_gives_what_it_gives_as_it_is_written(text, rows):
    printed = parse_definition(text)[1].text
    assert parse_definition(printed)[1].text == printed
    assert folding.fold(printed, rows) == folds.value(text, rows)
