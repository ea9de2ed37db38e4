"""One's own states of a message: a filter may not ask for them, and says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.query.corrections import corrections
from tapestry.query.frontend import read
from tapestry.query.phrases.states import STATES, StateError
from tests.query.phrases.test_requests import TERRY

READ, STARS = "has been read is no part of a filter", "Stars are each reader’s own"


@pytest.mark.parametrize(
    ("text", "message", "offered"),
    [
        (
            "from mary and unread",
            READ,
            ["from mary", "from mary and newer than one week", "from mary and mentioning unread"],
        ),
        ("unread", READ, ["newer than one week", "mentioning unread"]),
        ("starred by me", STARS, ["voted for by me", "mentioning starred"]),
        (
            "from mary and starred",
            STARS,
            ["from mary", "from mary and voted for by me", "from mary and mentioning starred"],
        ),
        (
            "Unread messages from mary",
            READ,
            [
                "messages from mary",
                "messages from mary and newer than one week",
                "mentioning Unread messages from mary",
            ],
        ),
        ("from mary or unread", READ, ["from mary", "from mary or mentioning unread"]),
        ("from mary and not read", READ, ["from mary"]),
        ("from mary, not read yet", READ, ["from mary"]),
        ("unred messages", READ, ["newer than one week", "mentioning unread messages"]),
        (
            "neither read nor starred",
            READ,
            [],
        ),
        ("messages I have not read", READ, ["newer than one week"]),
        ("messages in the inbox", "is in the inbox", ["newer than one week"]),
        ("from mary and snoozed", "is snoozed", ["from mary", "from mary and mentioning snoozed"]),
        (
            "from mary and done",
            "is done",
            ["from mary", "from mary and with no reply by me", "from mary and mentioning done"],
        ),
    ],
)
def test_a_filter_says_what_it_may_not_depend_on(text, message, offered):
    with pytest.raises(StateError, match=message) as caught:
        read(text, TERRY)
    found = [correction.applied_to(text) for correction in corrections(text, caught.value, TERRY)]
    assert found == offered


@pytest.mark.parametrize(
    "text",
    [
        'from mary and "unread"',
        'from mary and mentioning "starred"',
        "tagged unread",
        "from unread",
        "done",
        "unread counts in thunderbird",
        "flagged as spam",
        "Re: how to tell read and unread",
    ],
)
def test_a_word_that_is_a_value_or_stands_among_words_is_a_word(text):
    read(text, TERRY)


WORDS = ("router", "heat", "Lunch", "of", "cobol", "R-beta:", "Re:", "how", "release", "2.1")


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.sampled_from(sorted(STATES)),
    st.integers(0, 6),
)
def test_no_state_is_seen_among_words(words, state, place):
    """A subject is never taken for a state: nothing else in it says what else is asked."""
    text = " ".join([*words[:place], state, *words[place:]])
    try:
        read(text, TERRY)
    except TapestryError as error:
        assert not isinstance(error, StateError), text
