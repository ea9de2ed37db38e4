"""Searches of other programs: which texts are one, and what their parts mean together."""

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.frontend import read
from tapestry.query.operators import reading
from tapestry.query.operators.translation import MUTT, NAMES
from tapestry.query.phrases.recognize import canonical_phrase
from tests.query.phrases.test_requests import TERRY


def phrase(text):
    return read(text, TERRY).phrase


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("index -composite", "mentioning index and not mentioning composite"),
        ("from: mary", "from mary"),
        ('from:"Mary Jones" -(cc:me OR to:joe)', 'from "Mary Jones" and not (cc me or to joe)'),
        ("{from:mary from:joe} lunch", "(from mary or from joe) and mentioning lunch"),
        ("from:mary a b OR to:joe", 'from mary and mentioning "a" and mentioning b or to joe'),
        ("from:mary AND subject:x OR to:joe", "from mary and about x or to joe"),
        ("from:mary two weeks old", "from mary and two weeks old"),
        ("from:joe tea in it", 'from joe and mentioning tea and mentioning "in" and mentioning it'),
        ("from:*@x.org to:y.org", "from @x.org and to @y.org"),
        ("from:Mary <mary@x.org>", "from mary@x.org"),
        ("in:inbox from:mary", "from mary"),
        ("show me all mail from:mary", "from mary"),
        ('"next friday" AND lunch', 'mentioning "next friday" and mentioning lunch'),
        ("~f jones !~p ~s x", "from jones and not to me and about x"),
        ("date:2024-01..2024-03", "since January 2024 and until March 2024"),
        ("size:10k..2m", "larger than 9.7646484375 KB and not larger than 1953.125 KB"),
        ("rfc822msgid:<a@x.org>", "identified by a@x.org"),
        ("list:dev@x.org", "on list dev.x.org"),
        ("from mary -subject:lunch", "from mary and not about lunch"),
    ],
)  # fmt: skip
def test_a_search_means_what_it_means_elsewhere(text, meaning):
    assert phrase(text) == meaning
    assert read(meaning, TERRY).condition == read(text, TERRY).condition


@pytest.mark.parametrize(
    "text",
    [
        "Re: my - your plan",
        "re: hello",
        "see http://x.org",
        'about "from:mary"',
        "mentioning a and b",
        "m.subject HAS 'from:mary'",
        "in the year 2024-05",
        "gcc -O2",
    ],
)
def test_other_texts_are_no_search(text):
    assert not reading.are_in(text) or text.startswith("m.")
    assert not reading.are_named_in(text) or text.startswith("m.")


def test_what_is_in_quotes_of_tql_is_no_operator():
    query = read("m.subject HAS 'from:mary'", TERRY)
    assert canonical_phrase(query) == 'about "from:mary"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("is:unread", "no part of a filter"),
        ("subejct:lunch", "is not understood"),
        ("from:mary colour:red", "“colour:” is not understood"),
        ("subject:phon*", "Only whole words"),
        ("from:/mary.*/", "Regular expressions"),
        ("lunch AROUND 3 friday from:mary", "how near words are"),
        ("filename:rep*", "Only whole words"),
        ("file:/image.*/", "Only whole words of a name"),
        ("filename:--", "The value of “filename:” is not understood"),
        ("mime:sculpture", "The value of “mime:” is not understood"),
        ("-in:inbox from:mary", "A filter looks at all mail"),
        ("from:mary (lunch", "do not match"),
        ("in:inbox", "says nothing"),
    ],
)
def test_what_has_no_meaning_here_is_refused_in_words(text, said):
    with pytest.raises(TapestryError, match=said) as caught:
        read(text, TERRY)
    assert caught.value.hint


def test_a_misspelt_operator_is_told():
    with pytest.raises(TapestryError) as caught:
        read("from:mary subejct:lunch", TERRY)
    assert caught.value.hint == "Did you mean “subject:lunch”?"
    assert (caught.value.span.start, caught.value.span.end) == (10, 23)


@pytest.mark.parametrize("value", ['""', "x", "..", ">1", "/x/", "99/99/9999", "(a b)", "0", "1-"])
def test_whatever_stands_after_an_operator_is_read_or_refused_in_words(value):
    for text in (*(f"-{name}:{value}" for name in NAMES), *(f"~{name} {value}" for name in MUTT)):
        try:
            read(text, TERRY)
        except TapestryError as error:
            assert error.message
