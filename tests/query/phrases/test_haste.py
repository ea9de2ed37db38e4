"""Requests in haste: abbreviations and names alone, read as they would be in full."""

from contextlib import suppress

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.corrections import corrections
from tapestry.query.frontend import read
from tapestry.query.phrases.help.bare_words import says_words_alone
from tapestry.query.phrases.states import StateError, without_words_of_state
from tapestry.query.phrases.wordings.haste import in_full
from tapestry.query.search import read_search
from tests.query.phrases.test_others import TERRY


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("from dave w/o attachments", "from dave and not with attachments"),
        (
            "msgs from bob > 2mb w pics",
            "from bob and larger than two MB and with pictures attached",
        ),
        ("bob, carol or dave re rent", "(from bob or from carol or from dave) and about rent"),
        ("anything from anna re: the roof", "from anna and about roof"),
        (
            "from joe since fri, no attachment",
            "from joe and since 13 March 2026 and not with attachments",
        ),
        ("feb-mar 2025 from dave", "since February 2025 and until March 2025 and from dave"),
        ("attachments >= 3 and from bob", "with at least three attachments and from bob"),
    ],
)
def test_a_text_in_haste_is_read_in_full(text, phrase):
    query = read(text, TERRY)
    assert (query.phrase, query.lasting_text) == (phrase, phrase)


@pytest.mark.parametrize(
    "text", ["im late", "wk 12 report", "re: re: fwd: pics", "docs shared by anna"]
)
def test_words_that_are_no_phrase_in_full_stay_as_they_are(text):
    assert read_search(text, TERRY, read).read.phrase.startswith("mentioning ")


@pytest.mark.parametrize(
    "text", ["two weeks old with no reply", "replies about rent", "everything old since May 2025"]
)
def test_words_of_the_language_are_asked_of_nobody(text):
    """Names are known two seconds after somebody asks for the first time."""
    asked = []
    in_full(text, asked.append)
    assert asked == []


def test_values_are_never_written_in_full():
    assert read("about pics and mentioning wk", TERRY).phrase == "about pics and mentioning wk"


def test_a_time_in_haste_that_no_filter_may_say_is_refused_with_one_that_it_may():
    with pytest.raises(StateError) as caught:
        read("from bob last wk", TERRY)
    offered = [
        found.applied_to("from bob last wk")
        for found in corrections("from bob last wk", caught.value, TERRY)
    ]
    assert offered[0] == "from bob between one and two weeks old"


def test_a_state_in_haste_is_asked_of_what_else_is_meant():
    rest, states = without_words_of_state("unread bob last wk")
    assert (rest, [state.name for state in states]) == ("bob last week", ["unread"])


@pytest.mark.parametrize(
    "text",
    ["2nd reply from joe", "emails to bob and carol together", "replies to joe's cousin and bob"],
)
def test_a_name_is_no_word_of_another_clause(text):
    with suppress(TapestryError):
        assert says_words_alone(read(text, TERRY).phrase)
