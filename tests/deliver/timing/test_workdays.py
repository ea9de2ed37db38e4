"""Working days: when so many have passed, against a count of every minute."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import strategies as st

from tapestry.core.clock import DAY, HOUR, MINUTE, format_instant, parse_instant, to_datetime
from tapestry.core.errors import TapestryError
from tapestry.deliver.timing.local_time import offset_at
from tapestry.deliver.timing.workdays import Calendar, calendar_of, due
from tests.support.campaigns import campaigns

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = date(2026, 1, 1)


@pytest.mark.parametrize(
    ("received", "days", "holidays", "instant"),
    [
        ("2026-11-27T15:00:00Z", 3, "", "2026-12-02T15:00:00Z"),  # from Friday to Wednesday
        ("2026-11-28T15:00:00Z", 1, "", "2026-11-30T23:00:00Z"),  # Saturday: all of Monday
        ("2026-12-23T12:00:00Z", 2, "2026-12-24\n2026-12-25", "2026-12-29T12:00:00Z"),
        ("2026-03-27T12:00:00Z", 1, "", "2026-03-30T11:00:00Z"),  # the clocks change
    ],
)
def test_working_days_of_berlin(received, days, holidays, instant):
    calendar = calendar_of("01234", holidays)
    assert format_instant(due(parse_instant(received), days, calendar, BERLIN)) == instant


@pytest.mark.parametrize(("weekdays", "holidays"), [("", ""), ("01", "soon"), ("01", "2026-02-30")])
def test_a_calendar_that_is_none_is_refused_in_words(weekdays, holidays):
    with pytest.raises(TapestryError):
        calendar_of(weekdays, holidays)


ZONES = st.sampled_from(
    [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/Havana", "Pacific/Apia")]
)
CALENDARS = st.builds(
    Calendar,
    st.frozensets(st.integers(0, 6), min_size=1),
    st.frozensets(st.integers(0, 20).map(lambda n: FIRST + timedelta(n)), max_size=8),
)


@campaigns(
    50,
    450,
    st.integers(0, 14 * 24 * 60),
    st.integers(1, 4),
    CALENDARS,
    ZONES,
    st.integers(0, 3 * DAY),
)
def test_due_is_after_so_many_days_of_working_time(minute, days, calendar, zone, later):
    received = parse_instant(FIRST.isoformat()) + minute * MINUTE
    at = due(received, days, calendar, zone)
    assert due(received + later, days, calendar, zone) >= at, "monotone"
    quarter = HOUR // 4
    between = range(received // quarter * quarter, at, quarter)
    # All of these zones keep one offset in these weeks.
    assert offset_at(received, zone) == offset_at(at, zone)
    if len(between) < 4 * 24 * 40:
        worked = [calendar.works_on(to_datetime(t).astimezone(zone).date()) for t in between]
        quarters = days * 24 * 4
        assert quarters <= sum(worked) <= quarters + 1
