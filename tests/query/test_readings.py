"""Texts that two programs read in two ways: the other reading is offered, and reads so."""

import pytest

from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import canonical_phrase
from tapestry.query.readings import other_readings
from tapestry.query.tree.canonical import canonicalize
from tests.query.phrases.test_others import REQUESTS, is_meant
from tests.query.phrases.test_requests import TERRY


def others(text):
    return other_readings(text, canonical_phrase(read(text, TERRY)), TERRY)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('to:"Mary Jones" about x', 'directly to "Mary Jones" and about x'),
        ("To is equal to bob@example.org", "directly to bob@example.org"),
        ("project - status", "mentioning project and not mentioning status"),
        (
            "project (meeting status)",
            "mentioning project and (mentioning meeting or mentioning status)",
        ),
        ("list netdev", "on list netdev"),
        ("on netdev from mary", "on list netdev from mary"),
        ("tea OR coffee party", "(mentioning tea or mentioning coffee) and mentioning party"),
        ("lunch, tea", "mentioning lunch or mentioning tea"),
        ("-bob@example.org", "not from bob@example.org"),
        ("a.com AND attachment pdf", "mentioning a.com and with pdf attachments"),
    ],
)
def test_the_other_reading_is_offered(text, other):
    assert others(text) == (other,)
    assert canonicalize(read(other, TERRY).condition) != canonicalize(read(text, TERRY).condition)


@pytest.mark.parametrize(
    "text", ["to mary", "from mary", "Re: [R] lunch, and more of the same (as ever)", "m.size > 5"]
)
def test_what_has_one_reading_is_offered_no_other(text):
    assert others(text) == ()


def test_at_most_one_of_a_hundred_requests_is_answered_otherwise_without_what_was_meant():
    asked = [(text, kind, tql) for _, text, kind, _, tql, _ in REQUESTS if tql]
    otherwise = [line for line in asked if is_meant(*line) is False]
    without = [
        text
        for text, _, tql in otherwise
        if not any(is_meant(other, "filter", tql) for other in others(text))
    ]
    assert len(without) * 100 <= len(REQUESTS), without
