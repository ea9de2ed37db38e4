"""The usual shape of a condition keeps what it means, and forgets how it was written."""

import pytest
from hypothesis import strategies as st

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import recognize
from tapestry.query.tree import nodes as n
from tapestry.query.tree.canonical import canonicalize
from tapestry.query.tree.ordering import alpha_normalize, order_as_phrase
from tests.support.campaigns import campaigns
from tests.support.generators import random_filters, random_worlds
from tests.support.oracle import queries as oracle

TERRY = Context(owner="terry", addresses=("terry@parc.com",))


def shape(text):
    return alpha_normalize(canonicalize(read(text, TERRY).condition))


class Judge:
    """What conditions are true of in a world, at every instant at which its filter's may change."""

    def __init__(self, world):
        self.world = world
        instants = oracle.instants(world.data, world.query)
        self.instants = sorted({*instants, *world.schedule})
        self.db = oracle.Oracle(world.query, world.data, world.audiences).db

    def answers(self, condition):
        query = n.CheckedQuery("m", condition, "")
        judge = oracle.Oracle(query, self.world.data, self.world.audiences, self.db)
        return [judge.answer(at) for at in self.instants]


@campaigns(50, 150, st.one_of(random_worlds.worlds(), random_worlds.worlds(aggregates=True)))
def test_a_shaped_condition_is_true_of_the_same_messages_at_every_instant(world):
    judge = Judge(world)
    expected = judge.answers(world.query.condition)
    usual = canonicalize(world.query.condition)
    assert judge.answers(usual) == expected
    assert judge.answers(order_as_phrase(usual)) == expected


@campaigns(50, 150, st.one_of(random_filters.queries(), random_filters.queries(aggregates=True)))
def test_a_shaped_condition_has_its_shape(query):
    usual = canonicalize(query.condition)
    assert alpha_normalize(order_as_phrase(usual)) == alpha_normalize(usual)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("m.size > 5 AND m.subject HAS 'x'", "m.subject HAS 'x' AND 5 < m.size"),
        ("EXISTS (r: r.sender = m.sender)", "EXISTS (s: m.sender = s.sender)"),
        ("EXISTS (r: r.ts < m.ts)", "EXISTS (r: m.ts > r.ts)"),
        ("m.ts + 1 day > now()", "now() - 24 hours < m.ts"),
        ("m.size <= 5", "NOT m.size > 5"),
        ("m.size < 5", "NOT m.size > 4"),
        ("m.size >= 5", "m.size > 4"),
        ("NOT NOT m.size = 1", "m.size IN (1)"),
        ("EXISTS (r, s: r.ts < s.ts)", "EXISTS (r, s: s.ts > r.ts)"),
        ("COUNT(r: r.ts < m.ts) > 2", "COUNT(s: m.ts > s.ts) >= 3"),
        ("COUNT(r: r.ts < m.ts) < 2", "NOT COUNT(r: m.ts > r.ts) > 1"),
        ("COUNT(r: r.ts < m.ts) <> 0", "EXISTS (r: r.ts < m.ts)"),
        ("COUNT(DISTINCT r.msgid: r.ts < m.ts) = 0", "NOT EXISTS (r: r.ts < m.ts)"),
        ("m IN TOP 3 BY MAX(r.size: m.ts < r.ts)", "m IN TOP 3 x BY MAX(s.size: s.ts > x.ts)"),
    ],
)
def test_what_means_the_same_looks_the_same(one, other):
    assert shape(one) == shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("m.ts < now() - 1 day", "m.ts <= now() - 1 day"),
        ("m.ts < now() - 1 day", "m.date < now() - 1 day"),
        ("m.size > 5", "m.size >= 5"),
        ("m.size < 5", "m.size <= 5"),
        ("m.size > 5.0", "m.size >= 6.0"),
        ("NOT m.newsgroups = 'a'", "m.newsgroups <> 'a'"),
        ("EXISTS (r, s: r.ts < s.ts)", "EXISTS (r, s: r.ts <= s.ts)"),
        ("EXISTS (r: EXISTS (s: s.ts < r.ts))", "EXISTS (r: EXISTS (s: s.ts > r.ts))"),
        ("EXISTS (r: r.sender = m.subject)", "EXISTS (r: r.subject = m.sender)"),
        (
            "NOT EXISTS (r: r.inreplyto = m.msgid AND m.size > 5)",
            "NOT (m.size > 5 AND EXISTS (r: r.inreplyto = m.msgid))",
        ),
        (
            "m.msgid NOT IN (SELECT r.inreplyto FROM messages r)",
            "NOT EXISTS (r: r.inreplyto = m.msgid)",
        ),
        ("EXISTS (r: m.size > 5)", "m.size > 5"),
        ("COUNT(r: r.ts < m.ts) > 2", "COUNT(r: r.ts < m.ts) >= 2"),
        ("COUNT(r: r.ts < m.ts) = 2", "COUNT(r: r.ts < m.ts) >= 2"),
        ("COUNT(r.subject: r.ts < m.ts) > 0", "EXISTS (r: r.ts < m.ts)"),
        ("SUM(r.size: r.ts < m.ts) > 2", "SUM(r.size: r.ts < m.ts) >= 3"),
        ("SUM(r.size: r.ts < m.ts) > 2", "NOT SUM(r.size: r.ts < m.ts) <= 2"),
        ("COUNT(r: r.ts < m.ts) > 2", "COUNT(DISTINCT r.msgid: r.ts < m.ts) > 2"),
        ("m IN TOP 3 BY MAX(r.size: TRUE)", "m IN TOP 4 BY MAX(r.size: TRUE)"),
        ("EXISTS (a IN annotations: a.ts < m.ts)", "EXISTS (r: r.ts < m.ts)"),
    ],
)
def test_what_means_something_else_looks_otherwise(one, other):
    assert shape(one) != shape(other)


SPECIAL = [
    "m.size < 2 OR m.attachments <= 1 AND NOT m.attachments < 1",
    "NOT (m.size >= 2 OR 1 >= m.attachments)",
    "EXISTS (r: m.to = r.sender OR r.newsgroups = m.subject)",
    "m.inreplyto NOT IN (SELECT r.msgid FROM messages r WHERE r.size > 1)",
    "NOT (m.inreplyto IN (SELECT r.inreplyto FROM messages r WHERE r.inreplyto IS NOT NULL))",
    "EXISTS (a IN annotations: m.size >= 1)",
    "NOT EXISTS (a IN annotations: m.size >= 1 AND a.owner = m.sender_name)",
]


@pytest.mark.parametrize("text", SPECIAL)
@campaigns(10, 30, world=random_worlds.worlds())
def test_the_special_cases_keep_their_meaning(text, world):
    condition = read(text, TERRY).condition
    judge = Judge(world)
    assert judge.answers(canonicalize(condition)) == judge.answers(condition)


ALTERNATIVES = [
    "m.msgid NOT IN (SELECT r.inreplyto FROM messages r WHERE r.inreplyto IS NOT NULL)",
    "m.inreplyto IN (SELECT p.msgid FROM messages p WHERE p.sender = 'joe@x.org')",
    "NOT m.size < 2 AND m.received + 1 second < now() AND m.sender IN ('joe@x.org', 'bob@x.org')",
    "EXISTS (r: m.msgid = r.inreplyto AND m.sender = 'joe@x.org')",
    "m.inreplyto IS NULL AND 3 < COUNT(DISTINCT s.msgid IN threads: m.msgid = s.root"
    " AND s.msgid <> m.msgid)",
    "3 < COUNT(DISTINCT r.msgid: m.msgid = r.inreplyto)",
]


@pytest.mark.parametrize("text", ALTERNATIVES)
@campaigns(8, 20, world=random_worlds.worlds())
def test_the_phrase_shown_finds_the_same_messages(text, world):
    condition = read(text, TERRY).condition
    phrase = recognize(condition)
    assert phrase is not None
    judge = Judge(world)
    assert judge.answers(read(phrase, TERRY).condition) == judge.answers(condition)
