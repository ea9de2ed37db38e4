"""Laws of phrases under Hypothesis, by the oracle: lists, ``not``, and the phrase shown back."""

from hypothesis import assume
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.help.phrasebook import phrasebook
from tapestry.query.phrases.recognize import recognize
from tests.laws.filter_laws import expected, run, times
from tests.support.campaigns import campaigns
from tests.support.generators.random_phrases import one_phrase, some_phrases
from tests.support.generators.random_worlds import worlds_of
from tests.support.generators.rows import LAST, annotations, messages
from tests.support.oracle.queries import Oracle

ALICE = Context("alice", ("joe@x.org",), lambda owner, name: "m.subject HAS 'index'", now=LAST)

BATCHES = (1, 5, LAST)
VALUES = {
    "Jones": "joe",
    "terry": "alice",
    "release": "index",
    "Order": "Re",
    "comp.databases": "comp.sys",
}
"""Values of the phrasebook’s examples, and those that the tables have in place of them."""

people = st.sampled_from(("joe", "Mary Jones", "@x.org", "bill@y.org", "me", '"mary"', '"from"'))
texts = st.sampled_from(("index", "spark index", "äpfel", "100", "Birnen", '"b"'))


@st.composite
def tables(draw):
    """Draw what one audience sees."""
    rows = {"messages": draw(messages(BATCHES)), "annotations": draw(annotations(BATCHES))}
    return {
        name: [row for row in table if row["audience"] == "public"] for name, table in rows.items()
    }


def found(text, data):
    """Return what a phrase finds in the end."""
    return Oracle(read(text, ALICE), data, ("public",)).answer(LAST)


def understood(text):
    """Return what a phrase means, None of a text in other words."""
    try:
        query = read(text, ALICE)
    except TapestryError:
        return None
    return None if query.restated else query


@campaigns(25, 60, some_phrases, tables())
def test_not_finds_every_row_that_the_phrase_does_not_find(phrase, data):
    assume(understood(phrase) and understood(f"not ({phrase})"))
    everything = found("TRUE", data)
    assert found(f"not ({phrase})", data) == everything - found(phrase, data)
    assert found(f"not not ({phrase})", data) == found(phrase, data)


def of_the_tables(example):
    """Return an example of the phrasebook with values that the tables have."""
    for value, there in VALUES.items():
        example = example.replace(value, there)
    return example


@campaigns(
    150, 3000, st.sampled_from([example for example, _ in phrasebook()]), st.booleans(), st.data()
)
def test_each_kind_is_delivered_as_the_oracle_says(example, is_not, data):
    phrase = of_the_tables(example)
    # “everything” stands alone: it is no part of a filter.
    query = read(f"not ({phrase})" if is_not and phrase != "everything" else phrase, ALICE)
    world = data.draw(worlds_of(query, crowded=True))
    found = [times(matches) for matches in run(world, most_delta_queries=40)]
    assert found == expected(world)


@campaigns(
    25, 60, st.sampled_from(("from", "to", "replies by", "replies to")), people, people, tables()
)
def test_or_and_a_comma_in_a_list_mean_any_of_it(phrase, first, second, data):
    either = found(f"{phrase} {first}", data) | found(f"{phrase} {second}", data)
    for joining in (" or ", ", ", ",", ", or "):
        assert found(f"{phrase} {first}{joining}{second}", data) == either


@campaigns(25, 60, st.sampled_from(("about", "mentioning")), texts, texts, texts, tables())
def test_and_in_a_list_means_all_of_it_and_binds_closer(phrase, first, second, third, data):
    every = [found(f"{phrase} {text}", data) for text in (first, second, third)]
    assert (
        found(f"{phrase} {first} and {second} or {third}", data) == every[0] & every[1] | every[2]
    )
    assert found(f"{phrase} {first}, {second} and {third}", data) == every[0] & every[1] & every[2]


@campaigns(25, 60, people, people, tables())
def test_in_phrases_about_one_sender_a_list_is_of_alternatives(first, second, data):
    either = found(f"from {first}", data) | found(f"from {second}", data)
    assert found(f"from {first} or {second}", data) == either
    assert found(f"from {first}, {second} and {first}", data) == either
    if "@" not in second and second != "me":  # the second is a word
        assert found(f"from {first} and {second}", data) <= found(f"from {first}", data)
    neither = found(f"with no reply by {first}", data) & found(f"with no reply by {second}", data)
    assert found(f"with no reply by {first} or {second}", data) == neither


@campaigns(25, 60, one_phrase, tables())
def test_the_phrase_that_is_recognized_finds_the_same(phrase, data):
    query = understood(phrase)
    assume(query is not None)
    shown = recognize(query.condition)
    if shown is not None:
        assert found(shown, data) == found(phrase, data)
    assert found(query.phrase, data) == found(phrase, data)
