"""Files of events: whom somebody meets, and when."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from tapestry.core.clock import DAY, HOUR, format_instant, parse_instant
from tapestry.core.errors import TapestryError
from tapestry.mime import icalendar_file
from tapestry.mime.event import calendar_part
from tapestry.mime.icalendar_file import LARGEST, events_in

NOW = parse_instant("2026-11-29T12:00:00Z")
ZONE = ZoneInfo("Europe/Berlin")
ME = ("me@x.org",)


def ics(*events: str, method: str = "PUBLISH") -> bytes:
    lines = ["BEGIN:VCALENDAR", f"METHOD:{method}"]
    for number, event in enumerate(events):
        uid = "" if "UID:" in event else f"UID:u{number}\n"
        lines += ["BEGIN:VEVENT", f"{uid}{event.strip()}", "END:VEVENT"]
    return "\r\n".join("\n".join([*lines, "END:VCALENDAR", ""]).splitlines()).encode() + b"\r\n"


def met(*events: str, **given: str) -> list[tuple[str, str]]:
    found = events_in(ics(*events, **given), NOW, ZONE, ME)
    return [(address, format_instant(starts)) for address, starts in found.meetings]


ANN = "ATTENDEE:mailto:Ann@X.org"


@pytest.mark.parametrize(
    ("event", "starts"),
    [
        ("DTSTART:20261201T090000Z", "2026-12-01T09:00:00Z"),
        ("DTSTART:20261201T090000", "2026-12-01T08:00:00Z"),
        ("DTSTART;TZID=America/New_York:20261201T090000", "2026-12-01T14:00:00Z"),
        ("DTSTART;VALUE=DATE:20261201", "2026-11-30T23:00:00Z"),
        ("DTSTART:20261129T090000Z", "2026-11-29T09:00:00Z"),
    ],
)
def test_a_meeting_begins_where_its_person_is(event: str, starts: str) -> None:
    assert met(f"{event}\n{ANN}") == [("ann@x.org", starts)]


@pytest.mark.parametrize("event", ["DTSTART:20261120T090000Z", "DTSTART:20280101T090000Z"])
def test_what_is_long_over_or_far_ahead_is_left_out(event: str) -> None:
    assert met(f"{event}\n{ANN}") == []


def test_a_series_is_written_out_but_for_what_was_cancelled_or_moved() -> None:
    series = f"UID:s\nDTSTART;TZID=Europe/Berlin:20200107T090000\nRRULE:FREQ=WEEKLY\n{ANN}"
    series += "\nEXDATE;TZID=Europe/Berlin:20261208T090000"
    gone = "UID:s\nRECURRENCE-ID;TZID=Europe/Berlin:20261215T090000\nSTATUS:CANCELLED"
    moved = f"UID:s\nRECURRENCE-ID;TZID=Europe/Berlin:20261222T090000\n{ANN}"
    meetings = met(
        series,
        f"{gone}\nDTSTART;TZID=Europe/Berlin:20261215T090000\n{ANN}",
        f"{moved}\nDTSTART;TZID=Europe/Berlin:20261223T110000",
    )
    assert [starts for _, starts in meetings[:3]] == [
        *("2026-12-01T08:00:00Z", "2026-12-23T10:00:00Z", "2026-12-29T08:00:00Z")
    ]
    assert 50 <= len(meetings) <= 53


def test_others_who_come_are_met_and_no_rooms() -> None:
    event = "DTSTART:20261201T090000Z\nORGANIZER:mailto:boss@x.org\nATTENDEE:mailto:ME@x.org\n"
    event += "ATTENDEE;PARTSTAT=DECLINED:mailto:no@x.org\nATTENDEE;CUTYPE=ROOM:mailto:r@x.org\n"
    event += "ATTENDEE:urn:uuid:1\nATTENDEE:mailto:\nATTENDEE:mailto:bill@x.org"
    assert [address for address, _ in met(event)] == ["bill@x.org", "boss@x.org"]
    assert met(f"{event}\nATTENDEE;PARTSTAT=DECLINED:mailto:me@x.org") == []


def test_a_cancelled_event_is_no_meeting() -> None:
    event = f"DTSTART:20261201T090000Z\n{ANN}"
    found = events_in(ics(event, f"{event}\nSTATUS:CANCELLED"), NOW, ZONE, ME)
    assert (len(found.meetings), found.cancelled) == (1, ("u1",))
    assert events_in(ics(event, method="CANCEL"), NOW, ZONE, ME).cancelled == ("u0",)


@pytest.mark.parametrize(
    "event",
    [
        *("DTSTART:hello", "SUMMARY:no start", "DTSTART:20261201T090000Z\nRRULE:FREQ=SECONDLY"),
        "DTSTART:20261201T090000Z\nRRULE:FREQ=DAILY;BYMINUTE=1,2,3",
        "DTSTART:00010101T090000Z\nRRULE:FREQ=DAILY",
    ],
)
def test_an_event_that_cannot_be_read_costs_no_other(event: str) -> None:
    good = f"DTSTART:20261201T090000Z\n{ANN}"
    found = events_in(ics(f"{event}\n{ANN}", good), NOW, ZONE, ME)
    assert ([meeting.address for meeting in found.meetings], found.unread) == (["ann@x.org"], 1)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "There is no calendar in this file."),
        (b"\xff\0", "There is no calendar in this file."),
        (b"BEGIN:VCARD\r\nEND:VCARD\r\n", "There is no calendar in this file."),
        (b" " * (LARGEST + 1), "This file is larger than 4 MB."),
    ],
)
def test_what_is_no_calendar_is_refused_in_a_sentence(raw: bytes, sentence: str) -> None:
    with pytest.raises(TapestryError, match=sentence):
        events_in(raw, NOW, ZONE, ME)


def test_the_first_meetings_count_and_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icalendar_file, "MOST", 2)
    daily = ics(f"DTSTART:20261201T090000Z\nRRULE:FREQ=DAILY\n{ANN}")
    starts = [meeting.starts for meeting in events_in(daily, NOW, ZONE, ME).meetings]
    assert starts == [NOW + 2 * DAY - 3 * HOUR, NOW + 3 * DAY - 3 * HOUR]
    monkeypatch.setattr(icalendar_file, "SECONDS", -1.0)
    with pytest.raises(TapestryError, match="take too long"):
        events_in(daily, NOW, ZONE, ME)


@pytest.mark.parametrize(
    ("text", "event", "method"),
    [
        ("METHOD:REQUEST\nBEGIN:VEVENT\nUID:a\nEND:VEVENT\nBEGIN:VEVENT\nUID:b", "a", "request"),
        ("BEGIN:VTIMEZONE\nUID:z\nEND:VTIMEZONE\nBEGIN:VEVENT\nUID;X=1: a \n", "a", None),
        ("METHOD:CANCEL\nBEGIN:VEVENT\nEND:VEVENT", None, None),
        ("METHOD:REQUEST\nUID:a", None, None),
        ("METHOD:CANCEL\nBEGIN:VEVENT\nRECURRENCE-ID;X=1:2026\nUID:a", "a 2026", "cancel"),
        ("METHOD:REQUEST\nBEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20260301", "a", "request"),
        ("METHOD:CANCEL\nBEGIN:VEVENT\nUID:a\nEND:VEVENT\nRECURRENCE-ID:1", "a", "cancel"),
        ("", None, None),
    ],
)
def test_a_calendar_part_names_an_event(text: str, event: str | None, method: str | None) -> None:
    assert calendar_part(text) == (event, method)
