"""When a part that has ended is started again."""

from __future__ import annotations

from itertools import pairwise

from filters.site.launch.restarts import LONGEST, STEADY, State, Step, decide


def starts(state: State, until: float, lives: float) -> list[float]:
    """Return when a part is started that each time lives so many seconds; ask twice a second."""
    found, now = [], 0.0
    while now < until:
        step, state = decide(state, now - state.started < lives, now)
        if step is Step.START:
            found.append(now)
        now += 0.5
    return found


def test_a_part_that_runs_is_left_alone() -> None:
    assert decide(State(0.0), True, 5.0) == (Step.STAY, State(0.0))


def test_one_that_ended_is_started_at_once() -> None:
    step, state = decide(State(0.0), False, 5.0)
    assert step is Step.START
    assert (state.started, state.due) == (5.0, None)


def test_one_that_dies_at_once_is_tried_with_growing_pauses_for_ever() -> None:
    found = starts(State(0.0), 1_000_000.0, 0.0)
    pauses = [later - earlier for earlier, later in pairwise(found)]
    assert pauses[:7] == sorted(pauses[:7]) and pauses[0] < 2.0
    assert set(pauses[7:]) == {LONGEST + 0.5}
    assert found[-1] > 999_900.0


def test_one_that_ran_long_is_started_at_once_each_time() -> None:
    found = starts(State(0.0), 10 * STEADY, STEADY)
    assert found == [n * STEADY for n in range(1, 10)]


def test_one_that_ended_is_unwell_until_it_runs_and_one_that_ends_again_until_it_is_steady() -> (
    None
):
    once, down = State(5.0, ended=1, since=5.0), State(0.0, ended=1, since=5.0, due=6.0)
    assert (down.is_unwell(5.5), once.is_unwell(5.5)) == (True, False)
    twice = State(7.0, ended=2, since=5.0)
    assert (twice.is_unwell(8.0), twice.is_unwell(7.0 + STEADY)) == (True, False)


def test_what_needs_a_part_that_is_down_is_stopped_and_started_after_it() -> None:
    down = State(0.0, ended=3, since=9.0, due=20.0)
    step, state = decide(State(1.0), True, 10.0, down)
    assert step is Step.STOP
    assert decide(state, False, 11.0, down) == (Step.STAY, state)
    step, state = decide(state, False, 20.5, State(20.0, ended=3, since=9.0))
    assert (step, state) == (Step.START, State(20.5))


def test_what_needs_a_part_is_started_again_where_that_was_replaced_within_one_look() -> None:
    assert decide(State(1.0), True, 10.0, State(10.0, ended=1)) == (Step.START, State(10.0))
    assert decide(State(10.0), True, 10.5, State(10.0, ended=1)) == (Step.STAY, State(10.0))
