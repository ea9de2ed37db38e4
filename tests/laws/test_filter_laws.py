"""The laws on dozens of random examples, and on twenty thousand in the long campaign."""

import pytest

from tapestry.core.schema import MESSAGES, Type
from tapestry.query.tree import nodes as n
from tests.laws import filter_laws
from tests.support.generators.random_worlds import World
from tests.support.generators.terms import NULL, column

by_name = pytest.mark.parametrize("law", filter_laws.LAWS, ids=lambda law: law.__name__)


@by_name
def test_law(law):
    filter_laws.check(law, filter_laws.LAWS[law])


@pytest.mark.long
@by_name
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 200 * filter_laws.LAWS[law])


# What the laws found once stays found.

M = n.Binding("m", MESSAGES)
BOTH = ("public", "user:alice")


def delivered(condition, rows, schedule, start=None):
    world = World(n.CheckedQuery("m", condition, ""), _data(rows), BOTH, schedule, start)
    runs = [filter_laws.times(matches) for matches in filter_laws.run(world)]
    assert runs == filter_laws.expected(world)
    return runs


def _data(rows):
    return {
        MESSAGES: [{"msgid": "m0", "audience": "public"} | row for row in rows],
        "annotations": [],
    }


def test_a_message_that_matched_at_the_start_is_not_news_when_another_audience_gets_it():
    rows = [{"ts": 0}, {"ts": 10, "audience": "user:alice"}]
    assert delivered(n.Truth(True), rows, (20,), start=5) == [{}]


def test_an_empty_set_does_not_equal_null_and_so_not_of_it_holds():
    equal = n.Compare("=", column(M, "to"), NULL)
    assert delivered(n.Not(equal), [{"ts": 0}], (20,)) == [{"m0": 0}]
    assert delivered(n.Not(equal), [{"ts": 0, "to": ("x",)}], (20,)) == [{}]


def test_a_null_that_cancels_leaves_a_comparison_unknown():
    date, ts = column(M, "date"), column(M, "ts")
    age = n.Arith("-", n.Now(), date, Type.DURATION)
    older = n.Compare(">", age, n.Arith("-", ts, date, Type.DURATION))
    assert delivered(older, [{"ts": 1}], (20,)) == [{}]
    assert delivered(older, [{"ts": 1, "date": 0}], (20,)) == [{"m0": 2}]
