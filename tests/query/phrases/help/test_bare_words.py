"""Words alone, as a search box has them: which are taken for what is mentioned, and which not."""

import pytest

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.help.bare_words import with_phrases


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("lunch", "mentioning lunch"),
        ("  Lunch   friday ", "mentioning Lunch and mentioning friday"),
        ('"lunch friday"', 'mentioning "lunch friday"'),
        ("“lunch friday” pizza", 'mentioning "lunch friday" mentioning pizza'),
        ("votes", 'mentioning "votes"'),
        ("release 2.0", "mentioning release and mentioning 2.0"),
        ("c++", "mentioning c++"),
        ("it's on", None),
        ("not lunch friday", "not (mentioning lunch and mentioning friday)"),
        ("plan (b)", "mentioning plan (mentioning b)"),
        ("lunch from mary", "mentioning lunch from mary"),
        ("joe@x.org", "(from joe@x.org or to joe@x.org)"),
        ("@x.org", "(from @x.org or to @x.org)"),
        ("r s u v w x y z", " and ".join(f"mentioning {word}" for word in "rsuvwxyz")),
        ("q r s u v w x y z", 'mentioning "q r s u v w x y z"'),
    ],
)
def test_words_become_phrases(text, phrases):
    assert with_phrases(text) == phrases
    if phrases:
        assert read(phrases, Context()).notation == "phrase"


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "from mary", "replies bye jones", "in", "and", "lunch and", "--", "(lunch"),
        *("m.subject HSA 'x'", "a = b", "select lunch", "x" * 2000, "today lunch"),
    ],
)
def test_what_is_a_filter_or_meant_to_be_one_is_left_alone(text):
    assert with_phrases(text) is None
