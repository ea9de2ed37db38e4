"""The quick test of whether a text can be TQL agrees with the parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.query.tql.parser import _POWER, _STATEMENTS, cannot_be, parse
from tapestry.query.tree.identifiers import AGGREGATES, RESERVED
from tapestry.query.tree.parsed import MisreadError

NAMES = ["replies", "Jones", "m", "msgid", "now", "has", "interval", "date", "dateadd", "week", "é"]
WORDS = sorted({*NAMES, *RESERVED, *AGGREGATES, *_STATEMENTS, *_POWER})
OTHERS = ["(", ")", ".", ",", "'a'", '"b"', "5", "{", ":", ";", "-- c\n", "‘", "2 weeks"]


@given(st.lists(st.sampled_from(WORDS + OTHERS), min_size=2, max_size=6), st.sampled_from(" \n\t"))
def test_what_cannot_be_tql_is_misread(words, space):
    text = space.join(words)
    if cannot_be(text):
        with pytest.raises(MisreadError):
            parse(text)


@pytest.mark.parametrize("text", ["replies by Jones", "two weeks old", "in comp.x", "true x"])
def test_a_phrase_of_two_words_cannot_be_tql(text):
    assert cannot_be(text)


@pytest.mark.parametrize(
    "text", ["m IN baseball", "not replies", "select m", "update m", "m.size > 5", "replies", ""]
)
def test_other_texts_may_be_tql(text):
    assert not cannot_be(text)
