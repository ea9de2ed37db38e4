"""When a delivery that failed is tried again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.backoff import pause_after
from tapestry.core.clock import DAY, HOUR, MINUTE, SECOND
from tapestry.deliver.timing.backoff import FEWEST, FIRST, GIVE_UP, LONGEST, next_try

START = 1_000 * DAY
failures = st.integers(1, 10_000)
pauses = st.none() | st.floats(0, allow_nan=False)


def test_the_longest_pause_doubles_from_30_seconds_to_6_hours():
    found = [pause_after(count, FIRST, LONGEST) for count in (1, 2, 3, 10, 11, 99)]
    assert found == [30, 60, 120, 15_360, 21_600, 21_600]


@given(failures, st.integers(0, GIVE_UP - 1), pauses)
def test_a_try_is_within_its_pause_and_within_three_days(count, passed, retry_after):
    now = START + passed
    found = next_try(now, START, count, retry_after=retry_after)
    assert found is not None
    longest = max(pause_after(count, FIRST, LONGEST), retry_after or 0.0)
    assert now <= found <= START + GIVE_UP
    assert found <= now + min(longest, 1e6) * SECOND + 1
    asked = now + (retry_after or 0.0) * SECOND
    assert found >= min(START + GIVE_UP, asked) - 1


def test_full_jitter_spreads_deliveries_that_failed_together():
    drawn = {next_try(START, START, 8, seed=f"d{number}") - START for number in range(500)}
    assert len(drawn) == 500
    quarters = {min(3, 4 * pause // (64 * MINUTE)) for pause in drawn}
    assert quarters == {0, 1, 2, 3}
    assert max(drawn) <= 64 * MINUTE


def test_the_same_seed_draws_the_same_pause():
    assert next_try(START, START, 8, seed="d1") == next_try(START, START, 8, seed="d1")
    assert next_try(START, START, 8, seed="d1") != next_try(START, START, 8, seed="d2")


@pytest.mark.parametrize("seed", ["d1", "d2", "d3"])
def test_a_delivery_that_always_fails_ends_after_three_days(seed):
    now, tries = START, 0
    while now is not None:
        last, tries = now, tries + 1
        now = next_try(now, START, tries, seed=f"{seed}-{tries}")
    assert START + GIVE_UP - 6 * HOUR <= last <= START + GIVE_UP
    assert 12 < tries < 100


def test_a_machine_that_slept_for_a_week_gives_up_after_as_many_tries():
    now, tries = START, 1
    awake = START + 7 * DAY
    while (following := next_try(max(now, awake), START, tries, retry_after=1e9)) is not None:
        assert now < following <= max(now, awake) + 6 * HOUR
        now, tries = following, tries + 1
    assert tries == FEWEST
