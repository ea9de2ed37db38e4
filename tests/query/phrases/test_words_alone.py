"""Words that are merely looked for, and what may be more than words."""

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.frontend import read
from tapestry.query.phrases.wordings.requests import is_request
from tests.query.phrases.test_requests import TERRY

WORDS = (
    "heat in the machine room",
    "My new dog!",
    "Final designs - hi-res",
    "it's on: friday",
    "code review",
    "the weekly review",
    "price tag",
    "payment sent",
    "proposal liked",
    "board vote",
    "registration form",
    "names returned by apply",
    "save the date",
    "notes on fortran from C++",
    "question about trailing arguments",
    "cobol is not obsolete",
)
NOUNS = ("list comprehension", "filter coffee", "today show", "Search engine fails entirely")
CODE = ("m.size", "a = 1", "COUNT(r: TRUE)", "envelope :over 1M", "wildc~")
SLIPS = ("frm jones abot release", "starting a thred", "and")


@pytest.mark.parametrize("text", WORDS)
def test_words_are_looked_for(text):
    query = read(text, TERRY)
    assert query.phrase.startswith("mentioning ") and query.lasting_text == query.phrase
    assert not is_request(text)


@pytest.mark.parametrize("text", NOUNS)
def test_a_verb_before_a_noun_is_looked_for_as_the_noun_is(text):
    phrase = read(text, TERRY).phrase
    assert phrase.count("mentioning ") == len(text.split())


@pytest.mark.parametrize("text", [*CODE, *SLIPS])
def test_what_may_be_more_than_words_is_refused(text):
    with pytest.raises(TapestryError):
        read(text, TERRY)
