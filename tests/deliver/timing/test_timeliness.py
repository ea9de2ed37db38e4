"""When a match is shown."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from tapestry.core.clock import HOUR, MINUTE, format_instant, parse_instant
from tapestry.core.errors import TapestryError
from tapestry.deliver.timing.timeliness import Timeliness, parse_timeliness, shown_at

UTC = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")
KOLKATA = ZoneInfo("Asia/Kolkata")  # 5:30 ahead of UTC
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")  # its clocks are changed by half an hour
TORONTO = ZoneInfo("America/Toronto")
APIA = ZoneInfo("Pacific/Apia")  # it had no 30 December 2011


@pytest.mark.parametrize(
    ("text", "meant", "canonical"),
    [
        ("", Timeliness(), "at once"),
        ("At  once", Timeliness(), "at once"),
        ("hourly", Timeliness(every=HOUR), "hourly"),
        ("every 60 minutes", Timeliness(every=HOUR), "hourly"),
        ("every 30 minutes", Timeliness(every=30 * MINUTE), "every 30 minutes"),
        ("daily at 8:00", Timeliness(minute=480), "daily at 08:00"),
        ("daily at 23:59", Timeliness(minute=1439), "daily at 23:59"),
        ("weekly on MONDAY at 08:30", Timeliness(minute=510, weekday=0), None),
        ("weekly on sunday at 0:00", Timeliness(minute=0, weekday=6), "weekly on Sunday at 00:00"),
    ],
)
def test_it_reads_what_people_write(text: str, meant: Timeliness, canonical: str | None) -> None:
    assert parse_timeliness(text) == meant
    assert str(meant) == (canonical or "weekly on Monday at 08:30")
    assert parse_timeliness(str(meant)) == meant


@pytest.mark.parametrize(
    "text",
    ["soon", "every 0 minutes", "daily at 24:00", "daily at 8", "weekly on moonday at 08:00"],
)
def test_it_says_what_can_be_written(text: str) -> None:
    with pytest.raises(TapestryError) as caught:
        parse_timeliness(text)
    assert caught.value.message == f"“{text}” does not say when."
    assert "daily at 08:00" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "zone", "found", "shown"),
    [
        ("at once", UTC, "2026-01-31T12:34:56Z", "2026-01-31T12:34:56Z"),
        ("every 30 minutes", UTC, "2026-01-31T12:34:56Z", "2026-01-31T13:00:00Z"),
        ("hourly", UTC, "2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("hourly", UTC, "2026-01-31T12:00:00.000001Z", "2026-01-31T13:00:00Z"),
        ("daily at 08:00", UTC, "2026-01-31T07:00:00Z", "2026-01-31T08:00:00Z"),
        ("daily at 08:00", UTC, "2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z"),
        ("daily at 08:00", UTC, "2026-01-31T08:00:01Z", "2026-02-01T08:00:00Z"),
        ("daily at 08:00", BERLIN, "2026-01-31T06:59:00Z", "2026-01-31T07:00:00Z"),
        ("daily at 08:00", BERLIN, "2026-07-01T06:01:00Z", "2026-07-02T06:00:00Z"),
        ("daily at 02:30", BERLIN, "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"),
        ("daily at 02:30", BERLIN, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
        ("daily at 02:30", BERLIN, "2026-10-25T00:40:00Z", "2026-10-26T01:30:00Z"),
        ("weekly on Monday at 08:00", UTC, "2026-01-31T12:00:00Z", "2026-02-02T08:00:00Z"),
        ("weekly on Monday at 08:00", UTC, "2026-02-02T08:00:00.5Z", "2026-02-09T08:00:00Z"),
        ("hourly", KOLKATA, "2026-01-31T12:00:00Z", "2026-01-31T12:30:00Z"),
        ("every 45 minutes", KOLKATA, "2026-01-31T18:29:00Z", "2026-01-31T18:30:00Z"),
        ("every 180 minutes", BERLIN, "2026-07-01T10:01:00Z", "2026-07-01T13:00:00Z"),
        # In the night to summer time there is no 02:00; in that to winter time there are two.
        ("hourly", BERLIN, "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z"),
        ("every 120 minutes", BERLIN, "2026-03-29T00:30:00Z", "2026-03-29T02:00:00Z"),
        ("every 120 minutes", BERLIN, "2026-10-24T23:30:00Z", "2026-10-25T00:00:00Z"),
        ("every 120 minutes", BERLIN, "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"),
        # 02:00 is 02:30 at once, and half an hour later it is 03:00.
        ("hourly", LORD_HOWE, "2026-10-03T15:10:00Z", "2026-10-03T16:00:00Z"),
        ("hourly", LORD_HOWE, "2026-04-04T14:40:00Z", "2026-04-04T15:30:00Z"),
        ("every 1440 minutes", APIA, "2011-12-30T09:00:00Z", "2011-12-30T10:00:00Z"),
        ("daily at 08:00", APIA, "2011-12-30T09:00:00Z", "2011-12-30T18:00:00Z"),
        # The clocks went from 23:30 to 00:30: what was skipped comes on the next day.
        ("daily at 23:45", TORONTO, "1919-03-31T04:31:00Z", "1919-03-31T04:45:00Z"),
        ("every 99999 minutes", UTC, "1970-01-01T00:00:01Z", "1970-03-11T10:39:00Z"),
    ],
)
def test_a_match_is_shown_at_the_next_hour_for_it(
    text: str, zone: ZoneInfo, found: str, shown: str
) -> None:
    instant = shown_at(parse_timeliness(text), parse_instant(found), zone)
    assert format_instant(instant) == shown
