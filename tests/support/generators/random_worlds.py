"""Whole worlds for the laws: a random filter, its tables and its runs.

The tables come from ``rows``; a clock of its own is that of a filter that waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tapestry.core.clock import BEGINNING, NEVER
from tapestry.core.schema import MESSAGES
from tapestry.query.tree import nodes as n
from tests.support.generators.random_filters import _Limits, _Writer, queries
from tests.support.generators.rows import LAST, audiences, crowds, data, schedules
from tests.support.generators.values import one_of
from tests.support.oracle import queries as oracle
from tests.support.oracle.queries import Data


@dataclass(frozen=True)
class World:
    """A filter over tables, who asks, and when; ``start`` is T0 or None.

    ``steps`` are those of the clock of one that waits; None of others.
    """

    query: n.CheckedQuery
    data: Data
    audiences: tuple[str, ...]
    schedule: tuple[int, ...]
    start: int | None
    steps: tuple[tuple[int, int], ...] | None = None

    def clock(self, t: int) -> int:
        """Return what now() is at t, said once more: that of sources which are behind."""
        complete = [upto for ts, upto in self.steps or () if ts <= t]
        return max(min([t, *complete[-1:]]), BEGINNING if self.start is None else self.start)


@st.composite
def worlds(
    draw: st.DrawFn, depth: int = 3, in_query: bool = True, aggregates: bool | str = False
) -> World:
    """Draw a filter, its tables, and a schedule that meets many of its events."""
    query = draw(queries(depth, in_query=in_query, aggregates=aggregates))
    return draw(worlds_of(query, crowded=bool(aggregates)))


@st.composite
def worlds_of(
    draw: st.DrawFn,
    query: n.CheckedQuery,
    crowded: bool = False,
    drawn: st.SearchStrategy[Data] | None = None,
) -> World:
    """Draw tables for a filter, and a schedule that meets many of its events."""
    tables = draw(data(crowded=crowded) if drawn is None else drawn)
    schedule = draw(schedules(tuple(oracle.instants(tables, query))))
    start = None
    if draw(st.booleans()):
        arrivals = sorted({row["ts"] for rows in tables.values() for row in rows}) or [0]
        start = draw(one_of(*arrivals, *schedule))
        schedule = [until for until in schedule if until > start] or [start + LAST]
    return World(query, tables, draw(audiences), tuple(schedule), start)


@st.composite
def steps(draw: st.DrawFn) -> tuple[tuple[int, int], ...]:
    """Draw the steps of a clock: up to when all mail was here, NEVER where no source counts."""
    low = draw(st.integers(0, LAST))
    made: list[tuple[int, int]] = [(BEGINNING, low)]
    behind = st.sampled_from((0, 0, 1, 3, 8, None))
    for ts, late in draw(st.dictionaries(st.integers(0, 2 * LAST), behind, max_size=6)).items():
        made.append((ts, NEVER if late is None else -late))
    made.sort()
    for i, (ts, late) in enumerate(made[1:], 1):
        if late != NEVER:
            low = max(low, ts + late)
            made[i] = ts, low
        elif i + 1 < len(made):  # a source that counts from the next step on
            low = made[i + 1][0]
    return tuple(made)


@st.composite
def counting_worlds(draw: st.DrawFn) -> World:
    """Draw a world whose filter is one aggregate or rank: many of them are soon tried."""
    writer = _Writer(draw, _Limits(aggregates=True))
    query = n.CheckedQuery("m", writer.plain_count(n.Binding("m", MESSAGES)), "")
    start = draw(one_of(None, None, 0, 2, 3, 4))
    between = draw(one_of(LAST, LAST, 5, 6, 7))
    return World(
        query, draw(crowds()), ("public", "user:alice"), tuple(sorted({between, LAST})), start
    )
