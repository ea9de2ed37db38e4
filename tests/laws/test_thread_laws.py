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
from tests.support import oracle
from tests.support.generators import random_filters
from tests.support.generators.thread_filters import THREADS, worlds
from tests.support.threads import thread_rows


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
    data = draw.draw(random_filters.data())
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
    _, changed = filter_laws.with_hidden_rows(world, draw.draw(random_filters.data()))
    runs = filter_laws.run(world, most_delta_queries=40)
    assert filter_laws.run(replace(world, data=changed), most_delta_queries=40) == runs


LAWS = {
    facts_are_the_least_fixpoint: 400,
    every_schedule: 60,
    the_general_rule: 40,
    live: 25,
    nothing_crosses_an_audience: 40,
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law):
    filter_laws.check(law, LAWS[law])


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 50 * LAWS[law])


@pytest.mark.parametrize("text", THREADS)
def test_a_filter_of_threads_reads_back_as_it_is_printed(text):
    once = read(text, Context())
    assert read(print_tql(once), Context()).condition == once.condition
    assert read(print_sql(once), Context()).condition == once.condition
