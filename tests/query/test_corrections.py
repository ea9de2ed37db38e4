"""Corrections of a misspelt filter: few, near, and each of them helps."""

import re

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.corrections import LONGEST, blame, corrections
from tapestry.query.frontend import read
from tapestry.query.phrases.help.phrasebook import phrasebook
from tapestry.query.phrases.help.vocabulary import Vocabulary
from tapestry.query.remedies import MOST
from tapestry.query.search import as_words
from tests.query.phrases.test_requests import TERRY as ASKER
from tests.support.work import SECOND, counted

KNOWN = Vocabulary(
    filters=("baseball",),
    shared=(("terry", "hardware"),),
    people=(("mary@x.org", "Mary Jones"),),
    newsgroups=("rec.sport.baseball", "comp.misc"),
)
TEXTS = {"baseball": "from x", "hardware": "from y"}


def resolve(owner, name):
    if name not in TEXTS:
        raise TapestryError(f"There is no filter {name}.")
    return TEXTS[name]


TERRY = Context("terry", ("terry@x.org",), resolve)

MISSPELT = {
    "hass:attachment": "has:attachment",
    "subj:lunch": "subject:lunch",
    "lang:nl": "lang nl",
    "replies bye jones": "replies by jones",
    "from joe, voted fr by Jones": "from joe, voted for by Jones",
    "votedfor by me": "voted for by me",
    "frm jones abot release": "from jones about release",
    "older than two weks": "older than two weeks",
    "starting a thred": "starting a thread",
    "with at least thqee replies": "with at least three replies",
    "in fitler baseball": "in filter baseball",
    "voted against by moer than three people": "voted against by more than three people",
    "larger than 10 kilo": "larger than 10 KB",
    "from joe andd about x": "from joe and about x",
    "in contains comp.misc": "in comp.misc",
    "since 3 Marh 2025": "since 3 March 2025",
    "replies by": "replies by me",
    "with no": "with no reply",
    "older than two": "older than two weeks",
    "(from x": "(from x)",
    "from x)": "from x",
    'about "x': 'about "x"',
    "in filter basebal": "in filter baseball",
    "in terry's hardwar": "in terry's hardware",
    "m.subjct HAS 'x'": "m.subject HAS 'x'",
    "m.subject HAZ 'x'": "m.subject HAS 'x'",
    "from:mary and -is:unread": "from:mary",
    "tag:x AND is:unread AND NOT tag:y": "tag:x AND NOT tag:y",
    "in:inbox is:unread larger:5M": "in:inbox larger:5M",
    "from bob in baseball and about x": "from bob in rec.sport.baseball and about x",
    "from bob in basebal": "from bob in rec.sport.baseball",
    "invoices last month": "mentioning invoices between 30 and 60 days old",
    "from mary this month and about x": "from mary newer than 30 days and about x",
    "project +meeting": "project meeting",
    "SELECT m.msgid FRM messages m": "SELECT m.msgid FROM messages m",
}


def error_of(text):
    try:
        read(text, TERRY)
    except TapestryError as error:
        return error
    return None


@pytest.mark.parametrize(("text", "meant"), MISSPELT.items())
def test_the_nearest_comes_first_and_each_leads_further(text, meant):
    found = corrections(text, error_of(text), TERRY, KNOWN)
    assert 1 <= len(found) <= MOST
    assert found[0].applied_to(text) == meant
    for correction in found:
        error = error_of(correction.applied_to(text))
        assert error is None or error.offset >= correction.start + len(correction.text)


def slips():
    """Yield every phrase of the phrasebook with one letter of one word left out."""
    for example, _ in phrasebook():
        for word in re.finditer(r"[a-z]{4,}", example):
            middle = (word.start() + word.end()) // 2
            yield example[:middle] + example[middle + 1 :], example


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_slip_in_any_phrase_is_mended(every):
    refused = [
        (text, meant, error) for text, meant in [*slips()][::every] if (error := error_of(text))
    ]
    mended = 0
    for text, meant, refusal in refused:
        results = [
            (correction, correction.applied_to(text))
            for correction in corrections(text, refusal, TERRY, KNOWN)
        ]
        for correction, result in results:
            error = error_of(result)
            assert error is None or error.offset >= correction.start + len(correction.text)
        mended += meant.lower() in [result.lower() for _, result in results]
    assert len(refused) > 50
    assert mended >= 0.95 * len(refused)


SENTENCES = (
    "has anyone seen alice",
    "threads where bob was rude",
    "threads without any mail of somebody else",
    "mails tagged todo by nobody but me",
    "replies from the thread originator",
    "older messages that my boss forgot",
    "everything except from mary when somebody forgets",
    "mail from joe only if urgent",
    "mails in french about the contract",
    "mail I received that asks me a question and is aging without my reply",
    "emails where somebody promised to send me a document",
    "who has not answered my mail from last week",
)


@pytest.mark.parametrize("text", SENTENCES)
def test_of_a_sentence_that_is_no_filter_phrases_come_near_and_no_part_is_offered(text):
    error = error_of(text)
    assert corrections(text, error, TERRY) == ()
    assert any(error_of(phrase) is None for phrase in re.findall("“(.*?)”", error.hint))


SHORTENED = {
    "everything but newsletters and bounces": "about newsletters",
    "mail from mary except when she writes about lunch": "except",
    "mail from joe except on weekends": "on list",
    "did anyone reply to kenji about the router": "to kenji and about router",
    "mail from last 3 days not read": "not in a thread",
    "unread and starred": "newer than one week",
    "starred but not done": "voted for by me",
}


def test_mail_with_one_recipient_is_not_mail_to_several():
    text = "mail with one recipient"
    (found,) = corrections(text, error_of(text), TERRY)
    assert found.applied_to(text) == "mail only to me"


@pytest.mark.parametrize(("text", "shorter"), SHORTENED.items())
def test_no_correction_leaves_out_a_clause(text, shorter):
    found = [correction.applied_to(text) for correction in corrections(text, error_of(text), TERRY)]
    assert not [other for other in found if shorter in other.replace(as_words(text) or text, "")]


def test_a_span_beside_operators_is_mended_to_the_days_that_it_is():
    text = "received:last week from:joe"
    (first, *_) = corrections(text, error_of(text), ASKER)
    assert first.applied_to(text) == "received:2026-03-09..2026-03-15 from:joe"


def test_only_what_is_misread_is_replaced():
    text = "from joe, replise bye Jones"
    (first, *_) = corrections(text, error_of(text), TERRY)
    assert (text[first.start : first.end], first.text) == ("replise bye", "replies by")


def test_a_filter_of_which_nobody_told_is_not_named():
    text = "in filter basebal"
    found = corrections(text, error_of(text), TERRY)
    assert not [correction for correction in found if "baseball" in correction.text]


def test_a_verb_of_other_programs_is_blamed_and_not_the_value():
    text = "in contains index"
    error = blame(text, error_of(text))
    assert text[error.span.start : error.span.end] == "contains"
    assert error.message == "“contains” is not understood here."
    assert "in index" in error.hint


def test_another_error_stays_as_it_is():
    error = error_of("replies bye jones")
    assert blame("replies bye jones", error) is error


@pytest.mark.parametrize(
    "text", ["x" * 10_000, "x " * 5_000, "from joe " + "x" * (LONGEST - 9), "é" * LONGEST, "("]
)
def test_a_long_word_is_answered_soon(text):
    error = error_of(text)
    with counted() as work:
        found = corrections(text, error, TERRY, KNOWN) if error else ()
    assert len(found) <= MOST
    assert work.calls < SECOND


def test_a_word_in_place_of_a_sign_is_not_joined_to_the_next():
    text = "voted for (x)"
    found = corrections(text, error_of(text), Context())
    assert not any("morex" in correction.applied_to(text) for correction in found)
