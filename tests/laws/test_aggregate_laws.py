"""The laws over filters that count, add up and rank; and what they found once."""

import pytest

from tests.laws import filter_laws

by_name = pytest.mark.parametrize("law", filter_laws.COUNTING, ids=lambda law: law.__name__)


@by_name
def test_law_with_aggregates(law):
    filter_laws.check(law, filter_laws.COUNTING[law], aggregates=True)


@pytest.mark.long
@by_name
def test_law_with_aggregates_in_a_long_campaign(law):
    filter_laws.check(law, 300 * filter_laws.COUNTING[law], aggregates=True)
