"""A filter typed as TQL or SQL is shown back as the phrase that means it."""

from pathlib import Path

import datadriven as fixtures
import generate
import pytest
from hypothesis import HealthCheck, given, settings

from tapestry.query.context import Context
from tapestry.query.phrase_of import phrase_of
from tapestry.query.printer import print_sql, print_tql
from tapestry.query.read import read

PHRASES = Path(__file__).parent.parent / "fixtures" / "query" / "phrases.test"

FILTERS = {
    "baseball": "about baseball and not from me",
    "football": "EXISTS (r: r.inreplyto = m.msgid AND r.subject HAS 'football')",
}
TERRY = Context(
    owner="terry",
    addresses=("terry@parc.com", "terry@home.org"),
    resolve=lambda owner, name: FILTERS[name],
)

OTHERWISE = {
    # Nobody is “me”: the condition has addresses and a name.
    "from me and to me and cc me": (
        "(from terry@parc.com or from terry@home.org)"
        " and (to terry@parc.com or to terry@home.org)"
        " and (cc terry@parc.com or cc terry@home.org)"
    ),
    "voted for by mary and voted against by me": ("voted for by mary and voted against by terry"),
    'tagged urgent and tagged "to do" by me and annotated by mary': (
        'tagged urgent and tagged "to do" by terry and annotated by mary'
    ),
    # A parent by one of two addresses is said by “replies to me” only.
    "replies to Jones and replies to me": None,
    # Capitals and units are gone.
    "in comp.databases and in Comp.Sys.* and on list R-devel": (
        "in comp.databases and in comp.sys.* and on list r-devel"
    ),
    "21 days old or newer than 1.5 hours or one week old": (
        "three weeks old or newer than 90 minutes or one week old"
    ),
    # Another filter's name is gone, and what it says is no phrase.
    "in filter baseball or in mary's football": None,
}


def _canonical_phrases():
    cases, _ = fixtures.parse(PHRASES.read_text())
    return [case.expected.splitlines()[0] for case in cases]


@pytest.mark.parametrize("phrase", _canonical_phrases())
def test_what_a_phrase_prints_as_reads_back_as_that_phrase(phrase):
    query = read(phrase, TERRY)
    for text in (print_tql(query), print_sql(query)):
        assert read(text, TERRY).phrase == OTHERWISE.get(phrase, phrase)


@pytest.mark.parametrize(
    "phrase",
    [
        "from bart@x.org or from @x.org or to joe and cc joe",
        "to joe or to @x.org or cc @y.org or mentioning spark or about spark",
        "replies and not replies by Jones",
        "not (replies to Jones or replied to by @x.org) and starting a thread of more than three",
        "starting a thread and with no reply for two weeks and between 36 hours and two weeks old",
        "three weeks old and newer than two weeks",
        "voted for by more than 0 people or tagged spam by mary or with more than five replies",
        "with attachments and larger than 1.46484375 KB and not larger than three MB",
        'from "me" or about "and" or in "terry\'s" or about "say ""so"""',
    ],
)
def test_phrases_of_all_kinds_survive_tql(phrase):
    query = read(phrase, TERRY)
    assert query.phrase == phrase
    assert read(print_tql(query), TERRY).phrase == phrase


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (
            "EXISTS (reply: reply.inreplyto = m.msgid) AND EXISTS (p: p.msgid = m.inreplyto "
            "AND p.sender = 'a@b.c')",
            "replied to and replies to a@b.c",
        ),
        (
            "SELECT * FROM messages x WHERE x.ts < now() - INTERVAL '14' DAY AND NOT EXISTS "
            "(SELECT * FROM messages y WHERE y.inreplyto = x.msgid)",
            "two weeks old and with no reply",
        ),
        ("m.inreplyto IS NOT NULL AND m.sender LIKE '%@x\\_y.org'", "replies by @x_y.org"),
        (
            "m.ts < now() - 3 weeks AND m.ts > now() - 2 weeks",
            "three weeks old and newer than two weeks",
        ),
        ("m.ts <= now() - 3 weeks", None),
        ("m.subject HAS 'spark' AND m.size < 3", None),
        ("m.subject LIKE '%spark%'", None),
        ("m.sender LIKE '%x.org'", None),
        ("m.sender = 'JOE@x.org'", None),
        ("m.sender = 'joe'", None),
        ("m.sender_name HAS 'Joe' OR m.sender LIKE 'bob@%'", None),
        ("m.subject HAS 'a' OR m.body HAS 'b'", None),
        ("m.to = 'a@x.org' OR m.cc = 'b@x.org'", None),
        ("m.newsgroups LIKE 'comp%'", None),
        ("m.attachments > 1", None),
        ("EXISTS (r: r.inreplyto = m.msgid AND r.subject HAS 'spark')", None),
        ("EXISTS (r: r.sender = m.sender)", None),
        ("EXISTS (r, s: r.inreplyto = m.msgid AND s.inreplyto = r.msgid)", None),
        ("EXISTS (a IN annotations, r: a.msgid = r.msgid)", None),
        ("EXISTS (a IN annotations: a.kind = 'tag' AND a.value = 'x' AND a.owner = 'y')", None),
        ("EXISTS (a IN annotations: TRUE)", None),
        ("m.sender IN ('a@x.org')", None),
        ("TRUE", None),
        ("m.subject HAS 'two\u202ewords'", None),
    ],
)
def test_a_condition_has_the_phrase_that_means_it_or_none(text, phrase):
    assert read(text, TERRY).phrase == phrase


def test_a_long_condition_has_no_phrase():
    parts = [f"m.subject HAS 'w{number}'" for number in range(40)]
    assert read(" AND ".join(parts[:39]), TERRY).phrase is not None
    assert read(" AND ".join(parts), TERRY).phrase is None


def test_a_query_knows_the_notation_it_was_written_in():
    written = {text: read(text, TERRY) for text in ("about spark", "m.subject HAS 'spark'")}
    assert [query.notation for query in written.values()] == ["phrase", "tql"]
    assert {query.phrase for query in written.values()} == {"about spark"}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(generate.queries(unit=1_000_000))
def test_no_condition_is_too_odd_to_be_asked_for_its_phrase(query):
    phrase = phrase_of(query.condition, TERRY)
    if phrase is not None:
        assert read(phrase, TERRY).phrase == phrase
