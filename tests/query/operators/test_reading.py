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
        (
            "from:joe tea in it",
            'from joe and mentioning tea and mentioning "in" and mentioning "it"',
        ),
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
        ("subject:x from:mary OR from:joe", "about x and (from mary or from joe)"),
        ("From: ann OR From: joe AND Subject contains: x", "(from ann or from joe) and about x"),
        ('Subject begins with: "Re: a" AND From isn\'t: joe',
         'with a subject like "Re: a*" and not from joe'),
        ('+lunch +"next day"', 'mentioning lunch and mentioning "next day"'),
        ("=f mary ~s x", "from mary and about x"),
        ("year:2024 month:3 from:mary", "from mary and in March 2024"),
        ("~d 5-", "since 5 March 2026"),
        ("~d 19-", "since 19 February 2026"),
        ("-x answered -f mary", "replied to and from mary"),
        ("from=mary&to=joe&to-only", "from mary and directly to joe"),
        ("has:nouserlabels a", 'without a tag by me and mentioning "a"'),
        ("cc:j*e@x.org", "cc addresses like j*e@x.org"),
        ('anyof (header :is "to" "a@x.org", header :is "cc" "a@x.org")', "to a@x.org"),
        ('not anyof (size :over 1M, address :is "to" "a@x.org")',
         "not (larger than one MB or directly to a@x.org)"),
        ('address :domain :contains "from" "shop"', "from addresses like *@*shop*"),
        ("lunch OR dinner from:joe", "(mentioning lunch or mentioning dinner) and from joe"),
        ("from: ann, joe", "from ann or from joe"),
        ("to: ann, joe subject:x", "(to ann or to joe) and about x"),
        ("from: joe, -to:ann", "from joe and not to ann"),
        ("form:bob", "from bob"),
        ("from:bob -flag:list", "from bob and not on any list"),
        ("frm:ann subjct:budget", "from ann and about budget"),
        ("on:2024-05-05", "on 5 May 2024"),
        (
            "tea and (milk or sugar) not lemon",
            "mentioning tea and (mentioning milk or mentioning sugar) and not mentioning lemon",
        ),
        ('address :localpart "cc" "joe"', "cc addresses like joe@*"),
        ('allof (not date :before "20240301", exists "list-id")',
         "not before 1 March 2024 and on any list"),
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
        ("from:mary colour:red", "“colour:” is not understood"),
        ("tag:phon*", "Only a whole name"),
        ("from:/mary|joe/", "regular expression"),
        ("lunch AROUND 3 friday from:mary", "how near words are"),
        ("file:/image|photo/", "regular expression"),
        ("thread:{subject:lunch}", "who wrote in it"),
        ("filename:--", "The value of “filename:” is not understood"),
        ("mime:sculpture", "The value of “mime:” is not understood"),
        ("-in:inbox from:mary", "A filter looks at all mail"),
        ("from:mary (lunch", "do not match"),
        ("in:inbox", "leaves nothing out"),
    ],
)
def test_what_has_no_meaning_here_is_refused_in_words(text, said):
    with pytest.raises(TapestryError, match=said) as caught:
        read(text, TERRY)
    assert caught.value.hint


def test_an_operator_that_does_not_know_the_value_is_not_offered():
    with pytest.raises(TapestryError) as caught:
        read("from:mary lang:nl", TERRY)
    assert caught.value.hint == 'Did you mean “mentioning "lang:nl"”?'


def test_an_operator_with_a_slip_is_read_and_another_one_is_told():
    query = read("from:mary subejct:lunch has:attachement", TERRY)
    assert query.phrase == "from mary and about lunch and with attachments"
    with pytest.raises(TapestryError) as caught:
        read("from:mary subjects_:lunch", TERRY)
    assert caught.value.hint == "Did you mean “subject:lunch”?"
    assert (caught.value.span.start, caught.value.span.end) == (10, 25)


NOTATIONS = {
    "(and (from mary) (or (to joe) (subject next friday)))": (
        "from mary and (to joe or about next and about friday)"
    ),
    "(not lunch dinner)": "not mentioning lunch and not mentioning dinner",
    "(not from mary)": "not from mary",
    "from=mary&since=2026-01-01": "from mary and since 1 January 2026",
    '-f mary -s "next lunch" router': 'from mary and about "next lunch" and about router',
    "(from,is,mary) OR (subject,doesn't contain,lunch)": "from mary or not about lunch",
    '"subject" =~ "lun.h"': "with a subject like *lun?h*",
    'header :contains ["Subject"] ["lunch", "50%"]': (
        'with a subject like *lunch* or with a subject like "*50%*"'
    ),
    'not address :is "From" "joe@x.org"': "not from joe@x.org",
    'exists "list-id"': "on any list",
    "size :under 2M": "not larger than two MB",
    "subject:/^Order .*[.]/": 'with a subject like "Order *.*"',
    "from:/.*@x[.]org$/": "from @x.org",
    "from:news*@x.org": "from addresses like news*@x.org",
    "cc:me -to:me": "cc me and not directly to me",
    "cake OR pie -recipe": "(mentioning cake or mentioning pie) and not mentioning recipe",
    "cake OR -pie": "mentioning cake or not mentioning pie",
    "to:joe (cc:me OR bcc:me)": "to joe and cc me",
    'subject:""': "without a subject",
    "date:..2026-03-01T12:00": "until 1 March 2026 at 12:00:59",
    "received>2026-03-01T21:40:05Z": "after 1 March 2026 at 21:40:05 UTC",
    "~d 15/1/2026+1w": "since 15 January 2026 and until 22 January 2026",
    "~d =3d ~$": "on 15 March 2026 and with no reply",
    "~A": "everything",
    "phone* OR subject:smartphon* list:comp-devel*": (
        "mentioning phone* or about smartphon* and on list comp-devel"
    ),
    "minsize:5M maxsize:10M": "larger than five MB and not larger than ten MB",
    "filename:rep* body:(alph* bet*)": (
        "with an attachment named rep* and saying alph* and saying bet*"
    ),
}


@pytest.mark.parametrize("text", NOTATIONS)
def test_notations_of_programs_are_read(text):
    assert read(text, TERRY).phrase == NOTATIONS[text]


@pytest.mark.parametrize("value", ['""', "x", "..", ">1", "/x/", "99/99/9999", "(a b)", "0", "1-"])
def test_whatever_stands_after_an_operator_is_read_or_refused_in_words(value):
    for text in (*(f"-{name}:{value}" for name in NAMES), *(f"~{name} {value}" for name in MUTT)):
        try:
            read(text, TERRY)
        except TapestryError as error:
            assert error.message
