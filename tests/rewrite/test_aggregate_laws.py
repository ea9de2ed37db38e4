"""The laws over filters that count, add up and rank; and what they found once."""

import laws
import pytest

by_name = pytest.mark.parametrize("law", laws.COUNTING, ids=lambda law: law.__name__)


@by_name
def test_law_with_aggregates(law):
    laws.check(law, laws.COUNTING[law], aggregates=True)


@pytest.mark.long
@by_name
def test_law_with_aggregates_in_a_long_campaign(law):
    laws.check(law, 30 * laws.COUNTING[law], aggregates=True)
