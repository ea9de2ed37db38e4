"""When a match is shown, by all that a person has chosen: laws of the plan, and examples."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import strategies as st

from tapestry.core.clock import (
    DAY,
    HOUR,
    MINUTE,
    format_instant,
    parse_instant,
    to_datetime,
)
from tapestry.deliver.timing.local_time import offset_at, spans
from tapestry.deliver.timing.quiet import Rules, quiet_period
from tapestry.deliver.timing.schedule import HELD, plan
from tapestry.deliver.timing.timeliness import Timeliness, parse_timeliness, shown_at
from tests.support.campaigns import campaigns

UTC = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")

NIGHT = Rules(quiet_from=22 * 60, quiet_to=7 * 60)
NOON = Rules(quiet_from=12 * 60, quiet_to=13 * 60)
SMALL_HOURS = Rules(quiet_from=60, quiet_to=2 * 60 + 30)
TO_SUMMER, TO_WINTER = "2026-03-29T00:10:00Z", "2026-10-25T00:10:00Z"

EXAMPLES = [
    ("at once", NIGHT, UTC, "2026-01-31T21:59:59Z", "2026-01-31T21:59:59Z"),
    ("at once", NIGHT, UTC, "2026-01-31T22:00:00Z", "2026-02-01T07:00:00Z"),
    ("at once", NIGHT, UTC, "2026-01-31T06:59:59Z", "2026-01-31T07:00:00Z"),
    ("at once", NIGHT, BERLIN, "2026-07-01T21:00:00Z", "2026-07-02T05:00:00Z"),
    ("at once", NOON, UTC, "2026-01-31T12:30:00Z", "2026-01-31T13:00:00Z"),
    ("daily at 12:30", NOON, UTC, "2026-01-31T09:00:00Z", "2026-01-31T13:00:00Z"),
    ("daily at 12:30", NOON, UTC, "2026-01-31T12:45:00Z", "2026-01-31T13:00:00Z"),
    ("daily at 12:30", NOON, UTC, "2026-01-31T13:00:01Z", "2026-02-01T13:00:00Z"),
    ("daily at 08:00", NOON, UTC, "2026-01-31T12:30:00Z", "2026-02-01T08:00:00Z"),
    ("hourly", NIGHT, BERLIN, TO_SUMMER, "2026-03-29T05:00:00Z"),
    # The clocks skip the end of the quiet hours, 02:30, and then they repeat it.
    ("at once", SMALL_HOURS, BERLIN, TO_SUMMER, "2026-03-29T01:00:00Z"),
    ("at once", SMALL_HOURS, BERLIN, TO_WINTER, "2026-10-25T00:30:00Z"),
    ("at once", SMALL_HOURS, BERLIN, "2026-10-25T00:40:00Z", "2026-10-25T00:40:00Z"),
    ("at once", SMALL_HOURS, BERLIN, "2026-10-25T01:10:00Z", "2026-10-25T01:30:00Z"),
    ("at once", Rules(5, 5), UTC, "2026-01-31T00:05:00Z", "2026-01-31T00:05:00Z"),
    ("at once", Rules(quiet_from=5), UTC, "2026-01-31T00:05:00Z", "2026-01-31T00:05:00Z"),
    (
        "at once",
        Rules(holiday_until=date(2026, 2, 9)),
        BERLIN,
        "2026-01-31T12:00:00Z",
        "2026-02-08T23:00:00Z",
    ),
    (
        "daily at 08:00",
        Rules(holiday_until=date(2026, 2, 9)),
        UTC,
        "2026-01-31T12:00:00Z",
        "2026-02-09T08:00:00Z",
    ),
    (
        "at once",
        Rules(22 * 60, 7 * 60, date(2026, 2, 9)),
        UTC,
        "2026-01-31T12:00:00Z",
        "2026-02-09T07:00:00Z",
    ),
    (
        "at once",
        Rules(holiday_until=date(2026, 1, 31)),
        UTC,
        "2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00Z",
    ),
    # Clocks in Beirut go from midnight to one o'clock: the day begins at one.
    (
        "at once",
        Rules(holiday_until=date(2026, 3, 29)),
        ZoneInfo("Asia/Beirut"),
        "2026-03-01T12:00:00Z",
        "2026-03-28T22:00:00Z",
    ),
    # Clocks in Newfoundland went back at one minute past midnight, to the day before.
    (
        "at once",
        Rules(holiday_until=date(2008, 11, 2)),
        ZoneInfo("America/St_Johns"),
        "2008-11-01T12:00:00Z",
        "2008-11-02T03:30:00Z",
    ),
]


@pytest.mark.parametrize(("text", "rules", "zone", "stored", "shown"), EXAMPLES)
def test_a_match_is_shown_by_the_timeliness_and_not_in_quiet_hours(
    text: str, rules: Rules, zone: ZoneInfo, stored: str, shown: str
) -> None:
    planned = plan(parse_timeliness(text), rules, parse_instant(stored), zone)
    assert format_instant(planned) == shown


ZONES = st.sampled_from(
    [
        ZoneInfo(name)
        for name in (
            "UTC",
            "Europe/Berlin",
            "America/St_Johns",  # at a quarter of an hour, once at one minute past midnight
            "Asia/Kolkata",
            "Asia/Kathmandu",
            "Asia/Beirut",
            "America/Havana",
            "Australia/Lord_Howe",
            "Pacific/Apia",
            "Africa/Casablanca",  # its summer time has a pause
            "Pacific/Chatham",
        )
    ]
)
MINUTES = st.integers(0, 24 * 60 - 1)
TIMELINESS = st.one_of(
    st.just(Timeliness()),
    st.sampled_from([1, 7, 30, 45, 60, 50, 120, 1440, 5000]).map(
        lambda minutes: Timeliness(every=minutes * MINUTE)
    ),
    st.builds(Timeliness, minute=MINUTES),
    st.builds(Timeliness, minute=MINUTES, weekday=st.integers(0, 6)),
)
DAYS = st.dates(date(2005, 1, 1), date(2030, 1, 1))
RULES = st.builds(Rules, st.none() | MINUTES, st.none() | MINUTES, holiday_until=st.none() | DAYS)


@st.composite
def instants(draw: st.DrawFn) -> tuple[ZoneInfo, int]:
    """Return a zone and an instant, often one near a change of its clocks."""
    zone = draw(ZONES)
    day = draw(DAYS)
    near = parse_instant(day.isoformat())
    if draw(st.booleans()):
        changes = [
            after.begin
            for before, after in _pairs(near, near + 200 * DAY, zone)
            if before.offset != after.offset
        ]
        near = changes[0] if changes else near
    by = draw(st.sampled_from([0, 1, -1]) | st.integers(-2 * DAY, 2 * DAY))
    return zone, near + by


def _pairs(begin: int, end: int, zone: ZoneInfo):
    return pairwise(spans(begin, end, zone))


def local_minute(instant: int, zone: ZoneInfo) -> float:
    return (instant + offset_at(instant, zone)) % DAY / MINUTE


def is_quiet(rules: Rules, instant: int, zone: ZoneInfo) -> bool:
    """Tell what quiet hours mean, by what the clock on the wall shows."""
    begin, end = rules.quiet_from, rules.quiet_to
    if begin is None or end is None or begin == end:
        return False
    minute = local_minute(instant, zone)
    return begin <= minute < end if begin < end else minute >= begin or minute < end


@campaigns(50, 1200, TIMELINESS, RULES, instants(), st.integers(0, 3 * DAY))
def test_the_laws_of_the_plan(
    timeliness: Timeliness, rules: Rules, where: tuple[ZoneInfo, int], later: int
) -> None:
    zone, stored = where
    shown = plan(timeliness, rules, stored, zone)
    assert shown >= stored, "never before it is stored"
    assert shown < HELD
    assert not is_quiet(rules, shown, zone), "never in quiet hours"
    if rules.holiday_until is not None:
        assert to_datetime(shown).astimezone(zone).date() >= rules.holiday_until
    assert plan(timeliness, rules, stored + later, zone) >= shown, "monotone"
    assert plan(timeliness, rules, shown, zone) == shown, "idempotent"
    between = stored + later % (shown - stored + 1)
    assert plan(timeliness, rules, between, zone) == shown, "planned anew while it waits"


@campaigns(50, 900, TIMELINESS, instants())
def test_showing_times_are_those_of_the_local_clock(
    timeliness: Timeliness, where: tuple[ZoneInfo, int]
) -> None:
    zone, stored = where
    shown = shown_at(timeliness, stored, zone)
    if timeliness.minute is not None:
        skipped = offset_at(shown, zone) != offset_at(shown - DAY, zone)
        assert skipped or local_minute(shown, zone) == timeliness.minute
    elif timeliness.every:
        assert (shown + offset_at(shown, zone)) % timeliness.every == 0
        assert shown - stored <= timeliness.every + HOUR or timeliness.every > DAY


@campaigns(50, 900, RULES, instants())
def test_a_quiet_period_is_all_that_is_quiet_around_an_instant(
    rules: Rules, where: tuple[ZoneInfo, int]
) -> None:
    zone, instant = where
    period = quiet_period(rules, instant, zone)
    if period is None:
        assert not is_quiet(rules, instant, zone)
        return
    begin, end = period
    assert begin <= instant <= end
    assert not is_quiet(rules, begin - 1, zone) and not is_quiet(rules, end, zone)
    assert all(is_quiet(rules, begin + (end - begin) * i // 20, zone) for i in range(20))


@campaigns(50, 300, instants(), st.integers(1, 20 * DAY))
def test_spans_cover_the_time_and_have_one_offset(where: tuple[ZoneInfo, int], long: int) -> None:
    zone, begin = where
    every = list(spans(begin, begin + long, zone))
    assert every[0].begin == begin and every[-1].end == begin + long
    assert all(before.end == after.begin for before, after in _pairs(begin, begin + long, zone))
    for span in every:
        assert offset_at(span.begin, zone) == offset_at(span.end - 1, zone) == span.offset
