import re

from hypothesis import given
from hypothesis import strategies as st
from support import oracle_values

from tapestry.plan.like_regex import like_regex

pieces = st.sampled_from(["%", "_", "a", "B", "ab", "%%", r"\%", r"\_", r"\\", ".", "(", "\n", " "])
patterns = st.lists(pieces, max_size=8).map("".join)
texts = st.text("abAB%_.(\\\n ", max_size=12)


@given(patterns, texts)
def test_the_regular_expression_finds_what_the_pattern_matches(pattern, text):
    found = re.search(like_regex(pattern), text.lower())
    assert (found is not None) is oracle_values.like(text, pattern)


def test_no_pattern_backtracks_over_what_it_has_found():
    pieces = "a%" * 40
    assert not re.search(like_regex(f"%{pieces}b"), "a" * 100_000)
    assert not re.search(like_regex(f"%{pieces}b%"), "a" * 100_000)
