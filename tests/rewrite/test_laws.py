"""The laws on a thousand random examples, and on twenty thousand in the long campaign."""

import laws
import pytest

by_name = pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)


@by_name
def test_law(law):
    laws.check(law, laws.LAWS[law])


@pytest.mark.long
@by_name
def test_law_in_a_long_campaign(law):
    laws.check(law, 20 * laws.LAWS[law])
