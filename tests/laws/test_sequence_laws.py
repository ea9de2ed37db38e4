"""The laws of sequences and windows on random examples, and on many more in the long campaign."""

import pytest

from tests.laws import filter_laws, sequence_laws

by_name = pytest.mark.parametrize("law", sequence_laws.LAWS, ids=lambda law: law.__name__)
of_both = pytest.mark.parametrize("windows", [False, True], ids=["sequences", "windows"])


@of_both
@by_name
def test_law(law, windows):
    filter_laws.check(law, sequence_laws.LAWS[law], windows)


@pytest.mark.long
@of_both
@by_name
def test_law_in_a_long_campaign(law, windows):
    filter_laws.check(law, 100 * sequence_laws.LAWS[law], windows)
