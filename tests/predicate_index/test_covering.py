"""What postings decide is what the statement gives: the law of the covering index."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapestry.predicate_index import covering
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.oracle import covered

SINCE, UNTIL = 10, 20

TEXTS = st.sampled_from(
    (
        "",
        "lunch",
        "Lunch!",
        "the lunch break",
        "lunch-break",
        "lunches",
        "naïve lunch",
        "lunchï",
        "ann@x.org",
        "Ann@x",
        "ann",
        "é@x.org",
        "joe@x.org",
        "LUNCH\nbreak",
        "a_b",
        "ſ",
        "\u212aim",
        "comp.databases",
        "comp.databases.theory",
        "comp",
    )
)
AUDIENCES = ("public", "user:ann", "group:parc")
MESSAGE = st.fixed_dictionaries(
    {
        "msgid": st.sampled_from(("a@x", "b@x", "c@x")),
        "ts": st.integers(SINCE - 1, UNTIL + 1),
        "audience": st.sampled_from(AUDIENCES),
        "sender": st.none() | TEXTS,
        "sender_name": st.none() | TEXTS,
        "subject": st.none() | TEXTS,
        "to": st.lists(TEXTS, max_size=2),
        "to_names": st.lists(TEXTS, max_size=2),
        "filenames": st.lists(TEXTS, max_size=2),
        "diff_paths": st.lists(TEXTS, max_size=2),
        "newsgroups": st.lists(TEXTS, max_size=3),
        "size": st.integers(0, 2),
    }
)
COLUMNS = st.sampled_from(
    ("sender", "sender_name", "subject", "to", "to_names", "newsgroups", "filenames", "diff_paths")
)
PATTERNS = st.sampled_from(
    (
        "lunch%",
        "%x.org",
        "ann@%",
        "a\\_b",
        "a_b",
        "%lunch%",
        "comp.%",
        "%",
        "l%h",
        "LUNCH",
        "é%",
        "kim%",
        "s%",
    )
)
WORDS = st.sampled_from(("lunch", "the lunch", "lunch break", "Ann", "naïve", "naive", "kim", "s"))


def leaves():
    return st.one_of(
        st.builds("m.{} = '{}'".format, COLUMNS, TEXTS),
        st.builds("m.{} IN ('{}', '{}')".format, COLUMNS, TEXTS, TEXTS),
        st.builds("m.{} HAS '{}'".format, COLUMNS, WORDS),
        st.builds("m.{} LIKE '{}'".format, COLUMNS, PATTERNS),
        st.builds("NOT m.{} = '{}'".format, COLUMNS, TEXTS),
        st.just("m.size > 1"),
    )


CONDITIONS = st.recursive(
    leaves(),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(("AND", "OR")), inner),
    max_leaves=3,
)


def decided_and_evaluated(text, audiences, messages):
    engine = SqliteEngine({"messages": messages, "annotations": []})
    return covered.decided_and_evaluated([text], audiences, messages, SINCE, UNTIL, engine)


def distinct(messages):
    """Leave out what a table cannot hold: one Message-ID twice in an audience."""
    return list({(row["msgid"], row["audience"]): row for row in messages}.values())


@settings(max_examples=150, deadline=None)
@given(
    CONDITIONS,
    st.lists(st.sampled_from(AUDIENCES), min_size=1, unique=True).map(tuple),
    st.lists(MESSAGE, max_size=5).map(distinct),
)
def test_what_is_decided_is_what_the_statement_gives(text, audiences, messages):
    _, decided, evaluated = decided_and_evaluated(text, audiences, messages)
    assert decided == evaluated


def message(**columns):
    return {"msgid": "a@x", "ts": UNTIL, "audience": "public", **columns}


@pytest.mark.parametrize(
    "text",
    ["from ann", "from ann@x.org", "about lunch", "in comp.databases", "in comp.*", "to ann",
     "from ann about lunch", "m.subject HAS 'the lunch break'"],
)  # fmt: skip
def test_filters_of_a_messages_own_words_are_decided(text):
    new = message(
        sender="Ann@x.org",
        sender_name="Ann Ü",
        subject="Re: the lunch break – naïve",
        newsgroups=["comp.databases"],
        to=["ann@x.org"],
    )
    groups, decided, evaluated = decided_and_evaluated(text, ("public",), [new])
    assert len(groups) == 1
    assert decided == evaluated
    assert decided or text == "from ann@x.org"


@pytest.mark.parametrize(
    "text",
    [
        "m.subject HAS 'lunch' AND m.size > 1",
        "m.subject LIKE '%unc%'",
        "NOT m.subject = 'tea'",
        "m.subject HAS 'lunch' AND m.ts < now() - 1 week",
        "m.subject HAS 'lunch' AND EXISTS (r: r.inreplyto = m.msgid)",
        "COUNT(r: r.inreplyto = m.msgid) > 3",
    ],
)
def test_what_takes_more_than_words_is_left_to_the_engine(text):
    groups, decided, _ = decided_and_evaluated(text, ("public",), [message(subject="lunch")])
    assert not groups
    assert not decided


def test_letters_of_which_only_the_engine_can_tell_are_left_to_it():
    for subject, groups in (("naßve", set()), ("naïve", {0}), ("na ve", {0})):
        new = message(subject=subject)
        assert decided_and_evaluated("about ve", ("public",), [new])[0] == groups
        hidden = [new | {"audience": "user:joe"}]
        assert decided_and_evaluated("about ve", ("public",), hidden)[0] == {0}


def test_many_messages_and_many_answers_are_left_to_the_engine(monkeypatch):
    new = [message(msgid=f"{n}@x", subject="lunch") for n in range(3)]
    assert decided_and_evaluated("about lunch", ("public",), new)[0] == {0}
    monkeypatch.setattr(covering, "MOST_ANSWERS", 2)
    assert decided_and_evaluated("about lunch", ("public",), new)[0] == set()
    monkeypatch.setattr(covering, "MOST_ANSWERS", 100)
    monkeypatch.setattr(covering, "MOST_MESSAGES", 2)
    assert decided_and_evaluated("about lunch", ("public",), new)[0] == set()
