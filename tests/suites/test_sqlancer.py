"""The laws of SQLancer on random filters, by instants and by windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import Phase
from hypothesis import strategies as st

from tapestry.query.tree import nodes as n
from tests.laws.filter_laws import check, compiled, run, times
from tests.suites.answers import answer
from tests.suites.partitions import conditions, counted, parts, wrapped
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.generators import random_worlds
from tests.support.generators.random_worlds import World


def asking(world: World, condition: n.Condition) -> World:
    return replace(world, query=replace(world.query, condition=condition))


def draw_world(draw: st.DataObject, aggregates: bool) -> tuple[World, n.Condition]:
    world = draw.draw(random_worlds.worlds(depth=1, aggregates=aggregates))
    return replace(world, start=None), draw.draw(conditions(aggregates=aggregates))


def an_answer_is_that_of_its_three_parts(draw: st.DataObject, aggregates: bool) -> None:
    world, cut = draw_world(draw, aggregates)
    engine = SqliteEngine(world.data)
    of_parts = [asking(world, part) for part in parts(world.query.condition, cut)]
    for t in world.schedule[:5]:
        whole = answer(compiled(world.query), world.audiences, engine, t)
        found = [answer(compiled(part.query), world.audiences, engine, t) for part in of_parts]
        assert whole == set().union(*found)


def windows_deliver_what_those_of_three_parts_do(draw: st.DataObject, aggregates: bool) -> None:
    world, cut = draw_world(draw, aggregates)
    of_parts = [delivered(asking(world, part)) for part in parts(world.query.condition, cut)]
    first = {
        msgid: min(part[msgid] for part in of_parts if msgid in part)
        for msgid in set().union(*of_parts)
    }
    assert delivered(world) == first


def what_no_index_can_use_finds_the_same(draw: st.DataObject, aggregates: bool) -> None:
    world, condition = draw_world(draw, aggregates)
    plain = delivered(asking(world, condition))
    for hidden in (wrapped, counted):
        assert delivered(asking(world, hidden(condition, "x"))) == plain, hidden


def delivered(world: World) -> dict[str, int]:
    """Return when each message matched, over all windows."""
    return {msgid: at for matches in run(world) for msgid, at in times(matches).items()}


LAWS = {
    an_answer_is_that_of_its_three_parts: 16,
    windows_deliver_what_those_of_three_parts_do: 8,
    what_no_index_can_use_finds_the_same: 10,
}
by_name = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
with_counts = pytest.mark.parametrize("aggregates", [False, True], ids=["plain", "counts"])
Law = Callable[[st.DataObject, bool], None]


@pytest.mark.parametrize("seed", [5, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.parametrize("missing", [0, 1, 2], ids=["true", "false", "unknown"])
def test_a_part_that_is_missing_is_noticed(
    monkeypatch: pytest.MonkeyPatch, missing: int, seed: int | None
) -> None:
    """By the examples of a seed that soon shows it, or by any."""
    all_parts = parts

    def two(condition: n.Condition, cut: n.Condition) -> list[n.Condition]:
        return [part for i, part in enumerate(all_parts(condition, cut)) if i != missing]

    monkeypatch.setitem(globals(), "parts", two)
    search = {"phases": (Phase.generate,), "report_multiple_bugs": False}
    with pytest.raises(AssertionError):
        check(an_answer_is_that_of_its_three_parts, 400, seeded=seed, **search)


@by_name
@with_counts
def test_law_of_sqlancer(law: Law, aggregates: bool) -> None:
    check(law, LAWS[law], aggregates)


@pytest.mark.long
@by_name
@with_counts
def test_law_of_sqlancer_in_a_long_campaign(law: Law, aggregates: bool) -> None:
    check(law, 250 * LAWS[law], aggregates)
