"""A reading says each word of its text that means something, or it is none."""

import re

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.corrections import corrections
from tapestry.query.frontend import read
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.wordings.rules import RULES
from tapestry.query.phrases.wordings.senses import misread_word
from tapestry.query.search import read_search
from tests.query.phrases.test_others import TERRY

LOST = {
    ("reviewed by anyone except bob", "with a review and not from bob"): "except",
    ("threads where bob replied late", "replies to late and from bob"): "late",
    ("reviewed by nobody", 'reviewed by "nobody"'): "nobody",
    ("tagged todo by nobody but me", "not tagged todo"): "me",
    ("tagged todo by no-one", 'tagged todo by "no-one"'): "no-one",
    ("everything except patches", "not mentioning patches"): "patches",
    ("new people writing to me", 'mentioning "people" and mentioning writing and to me'): "people",
    ("latest mails from joe", "from joe"): "latest",
    ("mails from joe that bob forgot", "from joe"): "bob",
    ("not from joe", "from joe"): "not",
    ("from joe or mary", "from joe"): "or",
    ("mail to me and joe only", "to me and to joe"): "only",
    ("at least 3 replies to joe", "replies to joe"): "at least",
    ("3 replies to joe", "replies to joe"): "3",
    ("from joe yesterday", "from joe"): "yesterday",
    ("from joe to me", "from joe"): "me",
    ("every second mail from joe", "mentioning second and from joe"): "second",
    ("no later than 1 May from joe", 'mentioning "no" and after 1 May 2026 and from joe'): "no",
    ("has anyone voted for my last mail", "from me and voted for by more than 0 people"): "last",
    ("recent mail on list dev", "on list dev"): "recent",
    ("most recent mail about tax", "about tax"): "most recent",
    ("exactly 3 from joe", "mentioning exactly and mentioning 3 and from joe"): "exactly",
    ("from joe or else from mary", "from joe or from else and from mary"): "else",
    ("threads where joe replied twice", "replies to twice and from joe"): "twice",
    ("answers to my question about tax", "replies to a message about tax"): "my",
    ("from Royal Mail about tax", "from Royal and about tax"): "mail",
    ("from washington post", "from washington"): "post",
    ("from january about tax", 'from "january" and about tax'): "january",
    ("by joe with the most replies", "from joe and among the top ten by replies"): "most",
    ("every other mail from bob", "mentioning other and from bob"): "other",
    ("older than a day unless starred", "one day old and not mentioning starred"): "starred",
    ("tagged todo by joe but not by me", "tagged todo by joe and not from me"): "by",
    ("not answered within a day by bob", "not replied to within one day and from bob"): "by",
    ("mail from dave of 3 MB", 'from "dave of" and larger than 3 MB'): "of",
    ("mails joe sent twice", 'from "joe twice"'): "twice",
    ("cc'd to dave but not sent to him", "cc dave and not to him"): "him",
    (
        "carol's answer to dave's question",
        'replies to "dave\'s" and from "carol question"',
    ): "dave's",
    ("carol's mail on my question", 'from "carol question"'): "question",
    ("threads i began by bob", "from me and starting a thread and from bob"): "bob",
    ("no pictures, except from anna", "not with pictures and not from anna"): "except",
    ("nothing from joe unless about tax", "not from joe and not about tax"): "unless",
    ("no mail from joe without files", "not from joe and not with attachments"): "no",
    ("by ann or joe but not both", "(from ann or from joe) and not to both"): "both",
    ("replies to mails that joe tagged todo", "replies and tagged todo by joe"): "to",
    ("someone replied to me but not joe", "replies to me and not replies to joe"): "but",
    ("that bob got but carol didn't", "to bob and not from carol"): "but",
    ("at most 1 reply from joe", "not with more than one reply and from joe"): "from",
    ("from joe by mary", "from joe and from mary"): "joe",
    ("on list dev apart from mail of joe", "on list dev and from joe"): "apart from",
    ("mails bob sent to everyone but joe", "from bob and not to joe"): "every",
    ("no reply from anybody but joe", "with no reply and not from joe"): "but",
    ("with no links larger than 1 MB", "not with links and larger than one MB"): "larger",
    ("by joe with links or with tables", "from joe and with links or mentioning tables"): "or",
}
"""Texts, readings that they do not have, and the word that says so."""

SAID = {
    "please show me the mails of joe": "from joe",
    "mials from joe with an attachement": "from joe and with attachments",
    'from joe about "not now"': 'from joe and about "not now"',
    'without a tag from "a"': 'without a tag and from "a"',
    "since monday": "since 16 March 2026",
    "no later than 2026-03-01": "until 1 March 2026",
    "to or cc joe": "to joe",
    "invoices from joe but no drafts": 'mentioning invoices from joe and leaving out "drafts"',
    "mails from mary": "from mary",
    'from "Royal Mail"': 'from "Royal Mail"',
    'from joe or "from"': 'from joe or from "from"',
    "from nobody": 'from "nobody"',
    'reviewed by "nobody"': 'reviewed by "nobody"',
    "replies to my posts": "replies to me",
    "mails that mention my name": "mentioning me",
    "no pictures, except from anna": "not with pictures or from anna",
    "from the Bank of Ireland": "from bank of ireland",
    "replies to mails of joe": "replies to joe",
    "with links or with tables": "with links or mentioning tables",
    "answered by joe but not by me": "replied to by joe and not replied to by me",
    "second opinion": "mentioning second and mentioning opinion",
    "from Mary Jones <mary@x.org>": "from mary@x.org",
}
"""Texts, and readings that they may have."""


@pytest.mark.parametrize(("text", "phrase"), LOST)
def test_a_word_that_a_reading_does_not_say_is_found(text, phrase):
    assert misread_word(text, phrase, parse_phrase) == LOST[text, phrase]


@pytest.mark.parametrize("text", SAID)
def test_small_words_slips_and_other_forms_are_no_loss(text):
    assert misread_word(text, SAID[text], parse_phrase) is None


def test_a_filter_that_would_leave_a_word_out_is_refused_and_says_what_comes_near():
    text = "latest mails from joe"
    with pytest.raises(TapestryError, match="“latest” would mean nothing") as caught:
        read(text, TERRY)
    assert text[caught.value.span.start : caught.value.span.end] == "latest"
    assert corrections(text, caught.value, TERRY) == ()
    assert "“among the latest ten from Jones”" in caught.value.hint


def test_what_says_all_that_was_written_is_offered():
    text = "from Royal Mail about tax"
    with pytest.raises(TapestryError, match="“mail” would mean nothing") as caught:
        read(text, TERRY)
    (found,) = corrections(text, caught.value, TERRY)
    assert found.text == 'from "Royal Mail" about tax'


def test_a_day_of_a_search_may_be_written_in_any_order():
    assert read_search("lunch 3/31/2024", TERRY, read).read is not None
    assert read_search("lunch 31/31/2024", TERRY, read).read is not None


def test_a_search_that_would_leave_a_word_out_looks_for_all_its_words_and_says_so():
    found = read_search("latest mails from joe", TERRY, read)
    assert "mentioning joe" in found.read.phrase and "“latest”" in found.error.message


@pytest.mark.parametrize("rule", [rule for rule in RULES if isinstance(rule[1], str)], ids=str)
def test_a_rule_says_each_name_and_text_of_its_pattern(rule):
    pattern, phrase = rule
    # What is hidden before “and only show” is all the rest.
    phrase = phrase or "{what}"
    for name, of in re.findall(r"{(\w+):([A-Z]+)}", pattern):
        assert "{" + name + "}" in phrase or of in ("PREP", "THREAD"), name
