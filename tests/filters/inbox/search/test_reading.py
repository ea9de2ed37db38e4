"""Every subject, typed into the search box as it stands, finds its own message."""

import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from filters.inbox.search.reading import other_meanings, read_search
from filters.people import people
from filters.people.models import User
from tapestry.core.schema import COLUMNS, MESSAGES, Type
from tapestry.query.frontend import read
from tapestry.query.phrases.grammar import KEYWORDS
from tests.support.generators.rows import LAST
from tests.support.oracle.queries import Oracle

WORDS = (
    *("heat", "the", "machine", "room", "Mary", "joe@x.org", "2024", "March", "two", "weeks"),
    *("Re:", "Fwd:", "[R]", "(PR#12)", "-", "--", "-lc", "x=1", "a<b", "it's", "‘q’", "“q”", "und"),
    *("привет…", "„мир“", "&", "C++", "?", "!", "yesterday", "last", "week", "this", "month"),
)
subjects = st.lists(st.sampled_from((*WORDS, *KEYWORDS)), min_size=1, max_size=7).map(" ".join)


@pytest.mark.django_db
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(subjects)
@example("heat in the machine room")
@example("Replies by Mary before March")
@example("everything")
@example("filter heat yesterday heat")
@example("Problem with “index”, not yet mended")
def test_a_subject_finds_its_message(alice: User, subject: str) -> None:
    found = read_search(subject, alice)
    if found.understood is None:
        assert not any(map(str.isalnum, subject)), found.error
        return
    row = dict.fromkeys(("sender", "sender_name", "body", "inreplyto", "list"))
    row |= {"msgid": "m", "ts": 1, "received": 1, "size": 1, "attachments": 0}
    sets = [name for name, kind in COLUMNS[MESSAGES].items() if kind is Type.SET]
    row |= {"audience": "public", **dict.fromkeys(sets, ())}
    condition = read(found.asked, people.context(alice))
    there = {"messages": [row | {"subject": subject}], "annotations": []}
    assert Oracle(condition, there, ("public",)).answer(LAST) == {"m"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text", ["yesterday", "plan yesterday", "from mary last week", "last month"]
)
def test_a_span_of_the_calendar_is_that_of_today(alice: User, text: str) -> None:
    found = read_search(text, alice)
    assert found.understood is not None and found.understood.phrase is not None
    assert re.search(r"(on|in|since) (\d+ )?[A-Z][a-z]+ 20\d\d", found.understood.phrase)
    assert found.subject is not None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("messages with the most votes this month", "among the top ten by votes this month"),
        ("hot discussions this month", "among the top ten by replies this month"),
        ("in the last month", "newer than one month"),
    ],
)
def test_a_span_that_a_phrase_has_is_no_day(alice: User, text: str, phrase: str) -> None:
    found = read_search(text, alice)
    assert found.understood is not None and found.understood.phrase == phrase


@pytest.mark.django_db
def test_the_other_reading_of_what_programs_read_in_two_ways_is_offered(alice: User) -> None:
    found = read_search("to:mary", alice)
    assert other_meanings("to:mary", found, alice) == ["directly to mary"]
    found = read_search("to:mary is:unread", alice)
    assert other_meanings("to:mary is:unread", found, alice) == []
    found = read_search("letters unread", alice)
    assert other_meanings("letters unread", found, alice)[0] == "is:unread letters"
