"""Aggregates that are defined in SQL: all laws of filters that count, and what one comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.message import PUBLIC
from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.plan import folding
from tapestry.plan.lowering import folds as folded
from tapestry.query.tql.parser import parse_definition
from tapestry.query.tree import nodes as n
from tests.laws import change_laws, filter_laws, planting
from tests.laws.filter_laws import QUICK
from tests.support.engines import folds
from tests.support.generators.agreements import voted
from tests.support.generators.definitions import OPS, definitions
from tests.support.generators.random_worlds import World
from tests.support.generators.rows import schedules
from tests.support.generators.terms import column, number
from tests.support.generators.values import one_of

LAWS = {
    law: examples
    for law, examples in (filter_laws.LAWS | change_laws.LAWS).items()
    if not law.__name__.startswith("every_count")
}
by_name = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)


@by_name
def test_law(law):
    filter_laws.check(law, max(3, LAWS[law] // 4), aggregates="defined")


@pytest.mark.long
@by_name
def test_law_in_a_long_campaign(law):
    filter_laws.check(law, 200 * LAWS[law], aggregates="defined")


@st.composite
def votes_folded(draw) -> World:
    """Draw a world of votes on five messages, and an aggregate of those on each."""
    message, vote = n.Binding("m", MESSAGES), n.Binding("a", ANNOTATIONS)
    text = parse_definition(draw(definitions(("x",))))[1].text
    fold = n.Fold(text, (column(vote, "number"),), Type.NUMBER)
    rows = n.Compare("=", column(vote, "msgid"), column(message, "msgid"))
    total = n.Aggregate("AGGREGATE", False, fold, (vote,), rows, Type.NUMBER)
    mark = number(draw(one_of(0.0, 0.5, 1.0, 1.5, -0.5)))
    query = n.CheckedQuery("m", n.Threshold(total, draw(one_of(*OPS, ">", "<")), mark), "")
    schedule = tuple(draw(schedules(tuple(range(7)))))
    return World(query, draw(voted()), (PUBLIC, "user:alice"), schedule, None)


def votes_in_their_order(draw, aggregates):
    world = draw.draw(votes_folded())
    expected = filter_laws.expected(world)
    assert [filter_laws.times(matches) for matches in filter_laws.run(world)] == expected


def test_votes_are_folded_in_their_order():
    filter_laws.check(votes_in_their_order, 60)


PLANTS = planting.Plants()


@PLANTS.caught_by(votes_in_their_order, seed=1)
def votes_in_another_order(patch):
    place = folded.Folds._place
    patch.setattr(folded.Folds, "_place", lambda self, row: (-row[0], *place(self, row)))


@PLANTS.caught_by(votes_in_their_order, seed=4)
def a_row_too_few(patch):
    patch.setattr(folding, "MAX_FOLDED", 2)


@pytest.mark.parametrize("planted", PLANTS.params())
def test_a_planted_fault_is_caught(planted, monkeypatch):
    planted.plant(monkeypatch)
    with pytest.raises(AssertionError):
        planted.search_by_seeds()


NUMBERS = one_of(0, 1, -1, 2, 3, 2**62, None)
ROWS = st.lists(st.tuples(one_of(0.0, 1.0, -1.0, 0.5, 2.5, 1e200, None), NUMBERS), max_size=6)


@QUICK
@given(definitions(), ROWS)
def test_a_definition_as_it_is_printed_gives_what_it_gives_as_it_is_written(text, rows):
    printed = parse_definition(text)[1].text
    assert parse_definition(printed)[1].text == printed
    assert folding.fold(printed, rows) == folds.value(text, rows)
