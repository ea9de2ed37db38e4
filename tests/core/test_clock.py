"""Instants: read, written, and never behind one another."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.clock import (
    BEGINNING,
    SECOND,
    WEEK,
    format_instant,
    next_instant,
    parse_instant,
    to_datetime,
    to_instant,
    wall_clock,
    watermark_instant,
)

FIRST, LAST = to_instant(datetime(1, 1, 1)), to_instant(datetime(9999, 12, 31))
instants = st.integers(FIRST, LAST)


@given(instants)
def test_an_instant_that_was_written_reads_the_same(instant):
    assert parse_instant(format_instant(instant)) == instant
    assert to_instant(to_datetime(instant)) == instant


@given(now=instants, last=instants)
def test_no_append_is_stamped_within_a_window_that_was_run(now, last):
    until = watermark_instant(now, last)
    assert until >= last
    assert next_instant(now, until) > until
    assert next_instant(now - 5, until) > until, "a wall clock that steps back does no harm"


@given(now=instants, last=instants)
def test_a_run_after_an_append_sees_it(now, last):
    stamped = next_instant(now, last)
    assert watermark_instant(now, stamped) >= stamped


@pytest.mark.parametrize(
    "text",
    [
        "1970-01-15",
        "1970-01-15T00:00Z",
        "1970-01-15 00:00:00",
        " 1970-01-15T00:00:00.000000Z\n",
        "1970-01-15T02:00:00+02:00",
        "1970-01-14T22:30:00-0130",
    ],
)
def test_instants_are_read_in_these_forms(text):
    assert parse_instant(text) == 2 * WEEK


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "1970",
        "1970-1-5",
        "1970-02-30",
        "1970-01-01T25:00:00Z",
        "1970-01-01T00:00:00.1234567Z",
        "1970-W01-1",
        "19700101",
        "1970-01-01T00:00:00 UTC",
        "١٩٧٠-01-01",  # digits, but not these
    ],
)
def test_what_is_no_instant_is_refused(text):
    with pytest.raises(ValueError):
        parse_instant(text)


def test_fractions_are_written_only_where_they_are():
    assert format_instant(SECOND) == "1970-01-01T00:00:01Z"
    assert format_instant(-1) == "1969-12-31T23:59:59.999999Z"


def test_a_datetime_counts_in_its_zone_and_a_naive_one_in_utc():
    naive = datetime(1970, 1, 15)
    assert to_instant(naive) == to_instant(naive.replace(tzinfo=UTC)) == 2 * WEEK
    east = timezone(timedelta(hours=2))
    assert to_instant(datetime(1970, 1, 15, 2, tzinfo=east)) == 2 * WEEK


def test_the_wall_clock_is_in_microseconds():
    assert abs(wall_clock() - to_instant(datetime.now(UTC))) < 60 * SECOND


def test_the_beginning_is_before_everything_and_leaves_room_for_durations():
    assert BEGINNING - 1000 * 52 * WEEK > -(2**63)
    assert FIRST > BEGINNING
