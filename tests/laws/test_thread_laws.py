"""Threads: what is derived batch by batch is the least fixpoint, and filters say so at once."""

from dataclasses import replace

import pytest

from tapestry.core.message import PUBLIC
from tapestry.core.schema import MESSAGES
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_sql, print_tql
from tests.laws import change_laws, filter_laws
from tests.support.generators import random_worlds
from tests.support.generators import rows as generated_rows
from tests.support.generators.thread_filters import THREADS, worlds
from tests.support.oracle import queries as oracle
from tests.support.oracle.threads import thread_rows


def delivered(draw, strategy="fast"):
    world = draw.draw(worlds())
    runs = filter_laws.run(world, strategy, most_delta_queries=40)
    assert [filter_laws.times(matches) for matches in runs] == filter_laws.expected(world)


def every_schedule(draw, aggregates):
    delivered(draw)


def the_general_rule(draw, aggregates):
    delivered(draw, "general")


def live(draw, aggregates):
    world = draw.draw(worlds())
    change_laws.follow(world, oracle.Oracle(world.query, world.data, world.audiences), net=False)


def facts_are_the_least_fixpoint(draw, aggregates):
    data = draw.draw(generated_rows.data())
    judged = oracle.Oracle(n.CheckedQuery("m", n.Truth(True), ""), data, ("public",)).db
    rows = judged.execute("SELECT msgid, ts, root, audience FROM threads").fetchall()
    derived = [tuple(row.values()) for row in thread_rows(data[MESSAGES])]
    assert sorted(derived) == sorted(rows)
    assert {row[::3] for row in rows} == {
        (row["msgid"], row.get("audience") or "public") for row in data[MESSAGES]
    }, "each message is in a thread as soon as it is there"


def nothing_crosses_an_audience(draw, aggregates):
    """Everybody sees what is public, from which facts for an audience may follow."""
    world = draw.draw(worlds())
    world = replace(world, audiences=tuple(sorted({PUBLIC, *world.audiences})))
    _, changed = filter_laws.with_hidden_rows(world, draw.draw(generated_rows.data()))
    runs = filter_laws.run(world, most_delta_queries=40)
    assert filter_laws.run(replace(world, data=changed), most_delta_queries=40) == runs


LAWS = {
    facts_are_the_least_fixpoint: 200,
    every_schedule: 30,
    the_general_rule: 20,
    live: 12,
    nothing_crosses_an_audience: 20,
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law):
    filter_laws.check(law, LAWS[law])


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 100 * LAWS[law])


@pytest.mark.parametrize("text", THREADS)
def test_a_filter_of_threads_reads_back_as_it_is_printed(text):
    once = read(text, Context())
    assert read(print_tql(once), Context()).condition == once.condition
    assert read(print_sql(once), Context()).condition == once.condition


# By hand: the parent of b comes late.  Two threads become one, and what was first is third.

MAIL = [
    {"msgid": "a", "ts": 10},
    {"msgid": "b", "ts": 40, "inreplyto": "a"},
    {"msgid": "c", "ts": 20, "inreplyto": "b"},
    {"msgid": "d", "ts": 30, "inreplyto": "c"},
    {"msgid": "x", "ts": 30},
]


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("m.depth > 0", {"d": 30, "b": 40, "c": 40}),
        ("m.depth >= 2", {"c": 40, "d": 40}),
        ("m.depth = 1", {"d": 30, "b": 40}),
        ("m.depth <= 0 AND m.inreplyto IS NOT NULL", {"c": 20}),
        ("m.depth > 2", {"d": 40}),
        ("m.root = 'a'", {"a": 10, "b": 40, "c": 40, "d": 40}),
        ("m.root = 'b'", {"c": 20, "d": 30}),
        ("EXISTS (r: r.root = m.root AND r.msgid = 'd')", {"c": 30, "d": 30, "a": 40, "b": 40}),
        ("m.root <> 'b'", {"a": 10, "x": 30, "b": 40}),
    ],
)
def test_depths_and_roots(text, matched):
    query, data = read(text, Context()), {"messages": MAIL, "annotations": []}
    world = random_worlds.World(query, data, (PUBLIC,), (25, 200), None)
    runs = [filter_laws.times(matches) for matches in filter_laws.run(world)]
    assert {msgid: at for run in runs for msgid, at in run.items()} == matched
    assert runs == filter_laws.expected(world)
