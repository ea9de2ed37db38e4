"""The auditor's calendar is that of the product, though made apart."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filters.runs.store import schedule
from tapestry.deliver.timing.quiet import Rules, allowed_from
from tapestry.deliver.timing.schedule import plan
from tapestry.deliver.timing.timeliness import parse_timeliness
from tests.simulation.auditor.timing import is_resting, shown_at

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
CHOICES = (
    *("at once", "hourly", "every 30 minutes", "every 7 minutes", "daily at 08:00"),
    *("daily at 02:30", "weekly on Monday at 08:00", "weekly on Sunday at 02:15"),
)
BEGIN, DAY = 1_772_323_200_000_000, 86_400_000_000
minutes = st.none() | st.sampled_from((0, 60, 150, 420, 22 * 60, 1439)) | st.integers(0, 1439)
moments = st.integers(BEGIN, BEGIN + 300 * DAY)
near_changes = st.sampled_from((1_774_746_000, 1_792_893_600, 1_772_953_200, 1_793_516_400))
stored = moments | st.builds(
    lambda at, away: at * 1_000_000 + away, near_changes, st.integers(-DAY // 4, DAY // 4)
)


@settings(max_examples=300)
@given(
    stored,
    st.sampled_from(ZONES),
    st.integers(2, 5),
    st.sampled_from(("01234", "0", "56", "0123456")),
    st.frozensets(st.integers(1, 31), max_size=5),
    st.none() | st.sampled_from((0, 22 * 60)),
)
def test_working_days_are_counted_alike(at, zone, days, weekdays, free, quiet):
    begin, end = (None, None) if quiet is None else (quiet, 420)
    calendar = {"workdays": weekdays, "holidays": "\n".join(f"2026-03-{day:02}" for day in free)}
    choices = schedule.Choices(
        f"after {days} working days", "at once", zone, begin, end, None, *calendar.values()
    )
    person = {"time_zone": zone, "quiet_from": begin, "quiet_to": end, **calendar}
    for stored_at in (at, at + DAY):
        planned = choices.plan_after(at, stored_at)
        assert shown_at(choices.timeliness, person, stored_at, at) == planned


@settings(max_examples=300)
@given(
    stored,
    st.sampled_from(ZONES),
    st.sampled_from(CHOICES),
    minutes,
    minutes,
    st.none() | st.integers(0, 9),
)
def test_a_match_is_shown_when_the_product_plans_it(at, zone, timeliness, begin, end, days):
    rest = None if days is None else date(2026, 3, 24) + timedelta(days=days)
    rules = Rules(begin, end, rest)
    person = {"time_zone": zone, "quiet_from": begin, "quiet_to": end}
    person["holiday_until"] = None if rest is None else rest.isoformat()
    planned = plan(parse_timeliness(timeliness), rules, at, ZoneInfo(zone))
    assert shown_at(timeliness, person, at) == planned
    assert is_resting(person, at) == (allowed_from(rules, at, ZoneInfo(zone)) > at)


@pytest.mark.parametrize(
    ("timeliness", "hour"), [("", 21), ("at once", 21), ("daily at 08:00", 32)]
)
def test_a_filter_without_a_timeliness_has_its_owners(timeliness, hour):
    at = 21 * DAY // 24
    assert shown_at(timeliness, {"timeliness": "at once"}, at) == hour * DAY // 24
