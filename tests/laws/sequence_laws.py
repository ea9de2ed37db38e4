"""The laws of sequences, windows and window functions: what is written out finds the same.

The judges here, ``engines/sequences`` and ``engines/window_functions``, never see what ``check``
makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import reject
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.query.check.checker import check
from tapestry.query.context import Context
from tapestry.query.frontend import parse, read
from tapestry.query.tree import nodes as n
from tapestry.query.tree.parsed import Parsed, on_message
from tapestry.query.tree.printer import print_tql
from tests.laws import change_laws, filter_laws
from tests.laws.filter_laws import run, times
from tests.support.engines import nested_loops, sequences, window_functions
from tests.support.generators import random_filters, random_worlds
from tests.support.generators.random_worlds import World
from tests.support.generators.rows import partitions
from tests.support.generators.sequences import text_of
from tests.support.oracle import queries as oracle

MOST_DELTA_QUERIES = {"functions": 48}
"""A frame of so many rows comes to more delta queries than other filters do."""


class Literally(oracle.Oracle):
    """What a filter means at each instant, its sequences read literally."""

    def __init__(self, query: n.CheckedQuery, world: World) -> None:
        self.query, self.data, self.audiences = query, world.data, world.audiences
        more = sequences.instants(query, world.data) | window_functions.instants(query, world.data)
        self.events = sorted({*oracle.instants(world.data, query), *more})

    def answer(self, t: int) -> set[str]:
        return nested_loops.answer(self.query, self.data, self.audiences, t)


@dataclass(frozen=True)
class Written:
    """A world whose filter is written out, and the filter as it was drawn."""

    world: World
    literal: n.CheckedQuery

    @property
    def judge(self) -> Literally:
        return Literally(self.literal, self.world)


def written_out(literal: n.CheckedQuery) -> n.CheckedQuery:
    parsed = Parsed(on_message(literal.condition), "tql")
    try:
        return check(parsed, "", Context(), parse)
    except TapestryError:
        reject()


@st.composite
def written(draw: st.DrawFn, kind: str) -> Written:
    literal = draw(random_filters.ordered(kind))
    drawn = partitions() if kind in ("functions", "lasts") else None
    return Written(draw(random_worlds.worlds_of(written_out(literal), drawn=drawn)), literal)


def every_schedule_delivers_what_a_literal_reading_does(draw: st.DataObject, kind: str) -> None:
    drawn = draw.draw(written(kind))
    world = drawn.world
    expected = drawn.judge.delivered(world.schedule, world.start)
    most = MOST_DELTA_QUERIES.get(kind, filter_laws.MOST_DELTA_QUERIES)
    runs = run(world, most_delta_queries=most)
    assert [times(matches) for matches in runs] == expected


def a_live_one_holds_what_a_literal_reading_does(draw: st.DataObject, kind: str) -> None:
    drawn = draw.draw(written(kind))
    change_laws.follow(drawn.world, drawn.judge, net=draw.draw(st.booleans()))


def a_text_means_what_it_is_written_from(draw: st.DataObject, kind: str) -> None:
    literal = draw.draw(random_filters.ordered(kind))
    read_ = read(text_of(literal.condition), Context())
    assert print_tql(read_) == print_tql(written_out(literal))
    assert read(print_tql(read_), Context()).condition == read_.condition


LAWS: dict[filter_laws.Law, int] = {
    every_schedule_delivers_what_a_literal_reading_does: 30,
    a_live_one_holds_what_a_literal_reading_does: 15,
    a_text_means_what_it_is_written_from: 15,
}
"""How many examples of each law `make test` looks at, of each kind."""
