"""The sweep over a top's changes tells the same as ranking everything anew at each instant."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import strategies as st

from tapestry.plan.lowering.sweep_line import SweepLine
from tests.support.campaigns import campaigns

SINCE, UNTIL = 3, 12
KEYS = ((1, 0), (1, 1), (2, 0))


@dataclass(frozen=True)
class Counted:
    """A row that counts for a message, from one instant to before another."""

    key: tuple[int, int]
    msgid: str
    audience: str
    value: float
    alpha: int
    omega: int | None


@st.composite
def counted(draw, ending):
    alpha = draw(st.integers(0, UNTIL + 2))
    lasts = draw(st.sampled_from((None, 1, 2, 5))) if ending else None
    return Counted(
        draw(st.sampled_from(KEYS)),
        draw(st.sampled_from("abcd")),
        draw(st.sampled_from(("public", "user:alice"))),
        draw(st.sampled_from((-1, 0, 1, 2, 0.5))),
        alpha,
        None if lasts is None else alpha + lasts,
    )


def changes(rows):
    """Yield what the sweep is told: what counts at the start, and every change after it."""
    for row in rows:
        gone = row.omega is not None and row.omega <= SINCE
        if row.alpha > UNTIL or gone:
            continue
        name = (*row.key, row.msgid, row.audience)
        yield (*name, max(row.alpha, SINCE), row.value, 1)
        if row.omega is not None and row.omega <= UNTIL:
            yield (*name, row.omega, -row.value, -1)


AGGREGATES = {
    "COUNT": len,
    "SUM": sum,
    "AVG": lambda values: sum(values) / len(values),
    "MIN": min,
    "MAX": max,
}


def ranked(function, rows, key, limit, at):
    """Return the first messages at an instant, by adding up and ordering all of them."""
    values_of = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.key == key and row.alpha <= at and (row.omega is None or at < row.omega):
            values_of[row.msgid][row.audience].append(row.value)
    best = {
        msgid: max(AGGREGATES[function](values) for values in by_audience.values())
        for msgid, by_audience in values_of.items()
    }
    return set(sorted(best, key=lambda msgid: (-best[msgid], msgid))[:limit])


@pytest.mark.parametrize("function", AGGREGATES)
@campaigns(40, 100, data=st.data())
def test_a_message_is_on_top_in_its_periods_and_at_no_other_instant(function, data):
    ending = function in ("COUNT", "SUM", "AVG")
    rows = data.draw(st.lists(counted(ending), max_size=14))
    change_rows = data.draw(st.permutations(list(changes(rows))))
    limits = {key: data.draw(st.integers(1, 3)) for key in KEYS}
    periods = SweepLine(function, {key: (limit, UNTIL) for key, limit in limits.items()})(
        change_rows
    )
    for key, limit in limits.items():
        for at in range(SINCE, UNTIL + 1):
            here = {
                msgid
                for filter_id, disjunct, msgid, begins, ends in periods
                if (filter_id, disjunct) == key and begins <= at < ends
            }
            assert here == ranked(function, rows, key, limit, at), at


def test_of_several_audiences_the_highest_value_counts_and_not_their_sum():
    change_rows = [(1, 0, "a", "public", 1, 2, 2), (1, 0, "a", "user:alice", 1, 2, 2)]
    change_rows += [(1, 0, "b", "public", 1, 3, 3)]
    assert SweepLine("COUNT", {(1, 0): (1, 9)})(change_rows) == ((1, 0, "b", 1, 10),)


@campaigns(40, 100, st.lists(counted(True), max_size=14), st.integers(1, 3))
def test_periods_lie_in_the_span_and_do_not_touch(rows, limit):
    periods = SweepLine("SUM", dict.fromkeys(KEYS, (limit, UNTIL)))(changes(rows))
    assert all(SINCE <= begins < ends <= UNTIL + 1 for *_, begins, ends in periods)
    for earlier, later in pairwise(sorted(periods)):
        assert earlier[:3] != later[:3] or earlier[4] < later[3]


def test_of_one_value_the_first_message_by_name_is_on_top():
    change_rows = [(1, 0, name, "public", 5, 1, 1) for name in "cab"]
    periods = SweepLine("COUNT", {(1, 0): (2, 9)})(change_rows)
    assert set(periods) == {(1, 0, "a", 5, 10), (1, 0, "b", 5, 10)}


def test_the_changes_of_one_instant_count_together():
    """A vote withdrawn as another comes does not let the next message in between."""
    change_rows = [(1, 0, "b", "public", 1, 1, 1), (1, 0, "a", "public", 1, 2, 1)]
    change_rows += [(1, 0, "a", "public", 4, -2, -1), (1, 0, "a", "public", 4, 2, 1)]
    assert SweepLine("SUM", {(1, 0): (1, 9)})(change_rows) == ((1, 0, "a", 1, 10),)


def test_a_filter_of_which_nothing_is_ranked_has_no_periods():
    assert SweepLine("SUM", {(1, 0): (1, 9)})([]) == ()


def test_a_sum_of_fractions_comes_back_to_where_it_was():
    """0.3 + 0.6 - 0.3 is less than 0.6 where floating-point numbers are added."""
    assert 0.3 + 0.6 - 0.3 < 0.6
    change_rows = [(1, 0, "a", "public", 1, value, 1) for value in (0.3, 0.6)]
    change_rows += [(1, 0, "a", "public", 5, -0.3, -1), (1, 0, "b", "public", 1, 0.6, 1)]
    assert SweepLine("SUM", {(1, 0): (1, 9)})(change_rows) == ((1, 0, "a", 1, 10),)
