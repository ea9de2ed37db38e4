"""A filter typed as TQL or SQL is shown back as the phrase that means it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import canonical_phrase, recognize
from tapestry.query.tree.printer import print_sql, print_tql
from tests.support.formats import datadriven as fixtures
from tests.support.generators import random_filters
from tests.support.paths import FIXTURES

PHRASES = FIXTURES / "query" / "phrases.test"

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
    "unanswered by others and not from programs": None,
    "unanswered by me personally and not from programs": None,
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
    "in a thread of more than 50 and in a thread after a message by me": None,
    # Capitals and units are gone.
    "in comp.databases and in Comp.Sys.* and on list R-devel": (
        "in comp.databases and in comp.sys.* and on list r-devel"
    ),
    "21 days old or newer than 1.5 hours or one week old": (
        "three weeks old or newer than 90 minutes or one week old"
    ),
    # Of spellings that mean the same, one is shown.
    "starting a thread of more than three replies and not in any newsgroup": (
        "starting a thread of more than four and not in any newsgroup"
    ),
    "in a thread with mary and two months old and newer than one year": (
        "in a thread with mary and between 60 and 365 days old"
    ),
    "from new senders and not from unknown senders": None,  # by two addresses, of one person
    "with at least two replies and with fewer than twenty replies and with at least one reply "
    "or with fewer than one reply": (
        "with more than one reply and with fewer than twenty replies and replied to "
        "or with no reply"
    ),
    "with at least three attachments and with more than one attachment and with more than two "
    "attachments or with at least one attachment and with at least three attachments": (
        "with more than two attachments and with more than one attachment and with more than two "
        "attachments or with attachments and with more than two attachments"
    ),
    "not with at least three attachments or not with at least one attachment and from mary and "
    "with at least 21 attachments and larger than one MB": (
        "not with more than two attachments or not with attachments and from mary and "
        "with more than twenty attachments and larger than one MB"
    ),
    "not with more than three attachments and not with more than one attachment "
    "and not with more than two replies or not with more than one reply": (
        "not with more than three attachments and not with more than one attachment "
        "and with fewer than three replies or with fewer than two replies"
    ),
    "with at least three replies and with at least one reply and (with fewer than three replies "
    "or with fewer than two replies)": (
        "with more than two replies and replied to and (with fewer than three replies "
        "or with fewer than two replies)"
    ),
    "starting a thread of more than one or starting a thread of more than 0": (
        "starting a thread of more than one or starting a thread"
    ),
    # A condition does not say in which time zone a day is meant.
    "since 3 March 2025 and after March 2024 and before 2024 or until 5 May 2020 or on 1 May 2024 "
    "or in September 2024": None,
    "since 3 March 2025 at 9:30 and after 1 March 2024 at 21:40:05 UTC and "
    "before 3 May 2024 at 21:00 and until 5 May 2024 at 9:00 or on 1 May 2024 at 12:00": None,
    "(from mary or about rent) and since 2024": None,
    "dated since 3 March 2025 and not dated after 3 March 2026 at 9:00": None,
    "replies numbered three and to me": (
        "replies numbered three and (to terry@parc.com or to terry@home.org)"
    ),
    # Nor that a reply by one of several addresses is by their person.
    "voted for by mary and not voted for by terry and voted for by Jones or replied to by mary "
    "and replied to by me": None,
    # Nor whose address book it is.
    '(from contacts or about "contacts") and not replies': None,
    'not from contacts and not from "contacts"': None,
    # Nor whose calendar.
    "from people I meet within one week and not about cancelled events": None,
    # Nor who agrees with whom.
    "not voted for by people who agree with me": None,
    "liked by more than two people like me": None,
    # Paths have several forms, of which words alone are known again.
    "touching drivers/net": None,
    "touching fs/ext4/inode.c or touching mm/": None,
    "touching drivers/*/e1000*": None,
    "patch series and not reviewed by me": None,
    # Another filter's name is gone, and what it says is no phrase.
    "in filter baseball or in mary's football": None,
}


def shown(text):
    """Return the phrase that a filter is shown back as."""
    return canonical_phrase(read(text, TERRY))


def _canonical_phrases():
    cases, _ = fixtures.parse(PHRASES.read_text())
    return [case.expected.splitlines()[0] for case in cases if case.expected]


@pytest.mark.parametrize("phrase", _canonical_phrases())
def test_what_a_phrase_prints_as_reads_back_as_that_phrase(phrase):
    query = read(phrase, TERRY)
    for text in (print_tql(query), print_sql(query)):
        assert shown(text) == OTHERWISE.get(phrase, phrase)


@pytest.mark.parametrize(
    "phrase",
    [
        "from bart@x.org or from @x.org or to joe and cc joe",
        "to joe or to @x.org or cc @y.org or mentioning spark or about spark",
        "replies and not replies by Jones",
        "not (replies to Jones or replied to by @x.org) and starting a thread of more than three",
        "starting a thread and with no reply for two weeks and between 36 hours and two weeks old",
        "three weeks old and newer than two weeks",
        "tagged spam by mary or with more than five replies or with fewer than two replies",
        "voted for by more than 99 people or not voted against by more than one person",
        "with a score above -0.5 or with a score below two and not with a score above 21",
        "among the top ten by votes and among the top two by votes today",
        "among the top 10000 by replies or not among the top one by votes this week",
        "with attachments and larger than 1.46484375 KB and not larger than three MB",
        'from "me" or about "and" or in newsgroup "terry\'s" or about "say ""so"""',
    ],
)
def test_phrases_of_all_kinds_survive_tql(phrase):
    query = read(phrase, TERRY)
    assert query.phrase == phrase
    assert shown(print_tql(query)) == phrase


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (
            "EXISTS (reply: reply.inreplyto = m.msgid) AND EXISTS (p: p.msgid = m.inreplyto "
            "AND p.sender = 'a@b.c')",
            "replied to and replies to a@b.c",
        ),
        (
            "SELECT * FROM messages x WHERE x.received < now() - INTERVAL '14' DAY AND NOT EXISTS "
            "(SELECT * FROM messages y WHERE y.inreplyto = x.msgid)",
            "two weeks old and with no reply",
        ),
        ("m.inreplyto IS NOT NULL AND m.sender LIKE '%@x\\_y.org'", "replies by @x_y.org"),
        (
            "m.received < now() - 3 weeks AND m.received > now() - 2 weeks",
            "three weeks old and newer than two weeks",
        ),
        ("m.received <= now() - 3 weeks", None),
        ("m.subject HAS 'spark' AND m.size = 3", None),
        ("m.subject LIKE '%spark%'", "with a subject like *spark*"),
        ("m.sender LIKE '%x.org'", "from addresses like *x.org"),
        ("m.sender = 'JOE@x.org'", None),
        ("m.sender = 'joe'", None),
        ("m.sender_name HAS 'Joe' OR m.sender LIKE 'bob@%'", None),
        ("m.subject HAS 'a' OR m.body HAS 'b'", 'about "a" or saying b'),
        ("m.to = 'a@x.org' OR m.cc = 'b@x.org'", "directly to a@x.org or cc b@x.org"),
        ("m.newsgroups LIKE 'comp%'", None),
        ("m.attachments = 2", None),
        ("EXISTS (r: r.inreplyto = m.msgid AND r.subject HAS 'spark')", None),
        ("EXISTS (r: r.sender = m.sender)", None),
        ("EXISTS (r, s: r.inreplyto = m.msgid AND s.inreplyto = r.msgid)", None),
        ("EXISTS (a IN annotations, r: a.msgid = r.msgid)", None),
        ("EXISTS (a IN annotations: a.kind = 'tag' AND a.value = 'x' AND a.owner = 'y')", None),
        ("EXISTS (a IN annotations: TRUE)", None),
        ("m.sender IN ('A@x.org')", None),
        ("TRUE", "everything"),
        ("m.subject HAS 'two\u202ewords'", None),
    ],
)
def test_a_condition_has_the_phrase_that_means_it_or_none(text, phrase):
    assert shown(text) == phrase


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        # Sides and order
        ("EXISTS (r: m.msgid = r.inreplyto)", "replied to"),
        ("EXISTS (p: 'a@b.c' = p.sender AND m.inreplyto = p.msgid)", "replies to a@b.c"),
        ("1024 < m.size", "larger than one KB"),
        (
            "EXISTS (a IN annotations: a.owner = 'mary' AND a.value = 'x' AND m.msgid = a.msgid "
            "AND a.kind = 'tag')",
            "tagged x by mary",
        ),
        (
            "EXISTS (a IN annotations: 0 < a.number AND a.msgid = m.msgid AND a.owner = 'mary' "
            "AND a.kind = 'vote')",
            "voted for by mary",
        ),
        # Counts and ranks
        ("1 < COUNT(DISTINCT r.msgid: m.msgid = r.inreplyto)", "with more than one reply"),
        ("COUNT(DISTINCT r.msgid: r.inreplyto = m.msgid) >= 6", "with more than five replies"),
        ("COUNT(DISTINCT r.msgid: r.inreplyto = m.msgid) <= 6", "with fewer than seven replies"),
        ("COUNT(DISTINCT r.msgid: r.inreplyto = m.msgid) = 0", "with no reply"),
        ("COUNT(r: r.inreplyto = m.msgid) > 0", "replied to"),
        # A reply for two audiences is counted twice.
        ("COUNT(r: r.inreplyto = m.msgid) > 1", None),
        ("COUNT(DISTINCT r.sender: r.inreplyto = m.msgid) > 1", None),
        (
            "COUNT(DISTINCT a.owner IN annotations: a.number > 0 AND a.msgid = m.msgid "
            "AND a.kind = 'vote') > 2",
            "voted for by more than two people",
        ),
        ("COUNT(a IN annotations: a.msgid = m.msgid AND a.kind = 'vote') > 2", None),
        (
            "SELECT m.msgid FROM messages m WHERE (SELECT SUM(a.number) FROM annotations a "
            "WHERE a.kind = 'vote' AND a.msgid = m.msgid) > 3.0",
            "with a score above three",
        ),
        ("SUM(a.number IN annotations: a.msgid = m.msgid AND a.kind = 'vote') >= 3", None),
        ("SUM(a.number IN annotations: a.msgid = m.msgid) > 3", None),
        ("AVG(a.number IN annotations: a.msgid = m.msgid AND a.kind = 'vote') > 3", None),
        (
            "m IN TOP 10 x BY SUM(b.number IN annotations: b.kind = 'vote' "
            "AND b.ts + 7 days > now() AND b.msgid = x.msgid)",
            "among the top ten by votes this week",
        ),
        (
            "m IN TOP 10 BY COUNT(DISTINCT r.msgid: r.inreplyto = m.msgid) AMONG m.size > 3",
            None,
        ),
        (
            "m IN TOP 10 BY COUNT(DISTINCT r.msgid: r.inreplyto = m.msgid "
            "AND r.received > now() - 2 days)",
            None,
        ),
        (
            "m.inreplyto IS NULL "
            "AND COUNT(DISTINCT r.msgid IN threads: r.msgid <> m.msgid AND m.msgid = r.root) > 2",
            "starting a thread of more than three",
        ),
        ("m.sender LIKE 'jones@%' OR m.sender_name HAS 'Jones'", "from Jones"),
        ("m.body HAS 'w' OR m.subject HAS 'v' OR m.subject HAS 'w'", "about v or mentioning w"),
        (
            "m.cc LIKE 'joe@%' OR m.cc_names HAS 'joe' OR m.to LIKE 'joe@%' "
            "OR m.to_names HAS 'joe'",
            "to joe",
        ),
        ("m.cc LIKE 'joe\\_b@%' OR m.cc_names HAS 'joe_b'", "cc joe_b"),
        (
            "m.cc LIKE 'mary jones@%' OR m.cc LIKE '%@x.org' OR m.cc_names HAS 'Mary Jones'",
            'cc @x.org or cc "Mary Jones"',
        ),
        ("m.cc LIKE 'joe@%' OR m.to LIKE 'joe@%'", "to addresses like joe@*"),
        ("m.cc LIKE 'joe\\_b@%'", "cc addresses like joe_b@*"),
        (
            "m.cc LIKE 'joe@%' OR m.to LIKE 'bob@%'",
            "cc addresses like joe@* or directly to addresses like bob@*",
        ),
        (
            "m.cc LIKE 'joe@%' OR m.cc_names HAS 'joe' OR m.to LIKE 'bob@%' "
            "OR m.to_names HAS 'bob'",
            "directly to bob or cc joe",
        ),
        ("m.cc LIKE '%@x.org' OR m.to LIKE '%@x.org'", "to @x.org"),
        (
            "m.received > now() - 3 weeks AND m.subject HAS 'x' AND m.received < now() - 2 weeks",
            "between two and three weeks old and about x",
        ),
        (
            "m.received > now() - 3 weeks AND m.received < now() - 2 weeks",
            "between two and three weeks old",
        ),
        (
            "m.received <= now() - 2 weeks AND "
            "NOT EXISTS (r: r.received > now() - 2 weeks AND r.inreplyto = m.msgid)",
            "with no reply for two weeks",
        ),
        # Time
        ("m.received + 2 weeks < now()", "two weeks old"),
        ("now() - m.received > 14 days", "two weeks old"),
        ("14 days < now() - m.received", "two weeks old"),
        ("m.received < now() - INTERVAL '14' DAY", "two weeks old"),
        ("m.received < dateadd(day, -14, getdate())", "two weeks old"),
        ("now() - 1 week > m.received + 1 week", "two weeks old"),
        ("m.received - now() > 0 days - 3 days", "newer than three days"),
        ("now() BETWEEN m.received AND m.received + 1 day", None),
        ("m.date + 2 weeks < now()", None),
        ("m.received < now() + 2 weeks", None),
        ("m.received - m.received + m.received < now() - 2 weeks", None),
        # Lists, and whole numbers
        ("m.sender IN ('a@x.org')", "from a@x.org"),
        ("m.sender IN ('a@x.org', 'b@x.org')", "from a@x.org or from b@x.org"),
        ("m.newsgroups NOT IN ('a.b')", "not in a.b"),
        ("m.attachments >= 1", "with attachments"),
        ("coalesce(m.attachments, 0) < 1", "not with attachments"),
        ("m.attachments > 1", "with more than one attachment"),
        ("m.attachments >= 3", "with more than two attachments"),
        ("coalesce(m.attachments, 0) < 3", "not with more than two attachments"),
        ("m.attachments > -1", "with at least 0 attachments"),
        ("NOT m.size <= 10240", "larger than ten KB"),
        # Joins and IN (SELECT …)
        (
            "SELECT m.msgid FROM messages m, messages r "
            "WHERE m.subject HAS 'x' AND m.msgid = r.inreplyto",
            "about x and replied to",
        ),
        (
            "SELECT m.msgid FROM messages m JOIN annotations a ON a.msgid = m.msgid "
            "WHERE a.kind = 'tag' AND a.value = 'x'",
            "tagged x",
        ),
        ("m.msgid IN (SELECT r.inreplyto FROM messages r)", "replied to"),
        (
            "m.inreplyto IN (SELECT p.msgid FROM messages p WHERE p.sender = 'a@x.org')",
            "replies to a@x.org",
        ),
        (
            "m.msgid IN (SELECT a.msgid FROM annotations a WHERE a.owner = 'mary')",
            "annotated by mary",
        ),
        # A single reply without a parent would make NOT IN unknown.
        ("m.msgid NOT IN (SELECT r.inreplyto FROM messages r)", None),
        (
            "m.msgid NOT IN (SELECT r.inreplyto FROM messages r WHERE r.inreplyto IS NOT NULL)",
            "with no reply",
        ),
        (
            "NOT m.msgid IN (SELECT r.inreplyto FROM messages r "
            "WHERE r.sender = 'a@x.org' AND r.inreplyto IS NOT NULL)",
            "with no reply by a@x.org",
        ),
        # A message without a parent is in no such list, but not “not in” one either.
        ("m.inreplyto NOT IN (SELECT p.msgid FROM messages p WHERE p.sender = 'a@x.org')", None),
        # Under NOT, what is unknown beside an EXISTS is not what is unknown inside it.
        ("NOT EXISTS (r: r.inreplyto = m.msgid AND m.subject HAS 'x')", None),
        ("EXISTS (r: m.subject HAS 'x')", None),
    ],
)
def test_other_ways_to_write_it_have_the_same_phrase(text, phrase):
    assert shown(text) == phrase


def test_a_long_condition_has_no_phrase():
    parts = [f"m.subject HAS 'w{number}'" for number in range(40)]
    assert shown(" AND ".join(parts[:39])) is not None
    assert shown(" AND ".join(parts)) is None


def test_a_query_knows_the_notation_it_was_written_in():
    written = {text: read(text, TERRY) for text in ("about spark", "m.subject HAS 'spark'")}
    assert [query.notation for query in written.values()] == ["phrase", "tql"]
    assert {canonical_phrase(query) for query in written.values()} == {"about spark"}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(
        random_filters.queries(unit=1_000_000),
        random_filters.queries(unit=1_000_000, aggregates=True),
    )
)
def test_no_condition_is_too_odd_to_be_asked_for_its_phrase(query):
    phrase = recognize(query.condition)
    if phrase is not None:
        assert shown(phrase) == phrase
