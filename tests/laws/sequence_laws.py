"""The laws of sequences and windows: written out, they find what a literal reading finds.

The judge here is ``engines/sequences``: it never sees what ``check`` makes of a sequence.
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
from tests.support import oracle
from tests.support.engines import nested_loops, sequences
from tests.support.generators import random_filters
from tests.support.generators.random_filters import World
from tests.support.generators.sequences import text_of


class Literally(oracle.Oracle):
    """What a filter means at each instant, its sequences read literally."""

    def __init__(self, query: n.CheckedQuery, world: World) -> None:
        self.query, self.data, self.audiences = query, world.data, world.audiences
        more = sequences.instants(query, world.data)
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
def written(draw: st.DrawFn, windows: bool) -> Written:
    literal = draw(random_filters.ordered(windows))
    return Written(draw(random_filters.worlds_of(written_out(literal))), literal)


def every_schedule_delivers_what_a_literal_reading_does(draw: st.DataObject, windows: bool) -> None:
    drawn = draw.draw(written(windows))
    world = drawn.world
    expected = drawn.judge.delivered(world.schedule, world.start)
    assert [times(matches) for matches in run(world)] == expected


def a_live_one_holds_what_a_literal_reading_does(draw: st.DataObject, windows: bool) -> None:
    drawn = draw.draw(written(windows))
    change_laws.follow(drawn.world, drawn.judge, net=draw.draw(st.booleans()))


def a_text_means_what_it_is_written_from(draw: st.DataObject, windows: bool) -> None:
    literal = draw.draw(random_filters.ordered(windows))
    read_ = read(text_of(literal.condition), Context())
    assert print_tql(read_) == print_tql(written_out(literal))
    assert read(print_tql(read_), Context()).condition == read_.condition


LAWS: dict[filter_laws.Law, int] = {
    every_schedule_delivers_what_a_literal_reading_does: 60,
    a_live_one_holds_what_a_literal_reading_does: 30,
    a_text_means_what_it_is_written_from: 30,
}
"""How many examples of each law `make test` looks at, of sequences and of windows."""
