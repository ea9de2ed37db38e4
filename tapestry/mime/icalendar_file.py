"""Meetings in a file of events: iCalendar (RFC 5545), what repeats written out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from time import monotonic
from typing import NamedTuple
from zoneinfo import ZoneInfo

import recurring_ical_events
from icalendar import Calendar, Event, vCalAddress

from tapestry.core.clock import DAY, to_datetime, to_instant
from tapestry.core.errors import TapestryError
from tapestry.mime.address import mailboxes

LARGEST = 1 << 22
"""Bytes of a file."""

MOST = 10_000
"""Meetings of a file, each person counted; those that come first are read."""

AHEAD, BEHIND = 366 * DAY, DAY
"""How far from now events are looked for."""

SECONDS = 20.0
"""How long the events of a file may take to be written out."""

_NO_PERSON = frozenset({"ROOM", "RESOURCE"})
_TOO_OFTEN = frozenset({"SECONDLY", "MINUTELY", "HOURLY"})
_IN_A_DAY = ("BYHOUR", "BYMINUTE", "BYSECOND")


class Meeting(NamedTuple):
    """Somebody whom a person meets, by address, and the instant at which that begins."""

    address: str
    starts: int


@dataclass(frozen=True, slots=True)
class Events:
    """Meetings, UIDs of events that were cancelled, and how many events could not be read."""

    meetings: tuple[Meeting, ...]
    cancelled: tuple[str, ...]
    unread: int


def events_in(raw: bytes, now: int, zone: ZoneInfo, me: Collection[str]) -> Events:
    """Return whom somebody meets, from a day ago to a year ahead, by a file of events.

    ``me`` are their addresses in small letters: they do not meet themselves, nor anybody at what
    they declined.  Days, and times without a zone, are of ``zone``.  Raise TapestryError, in a
    sentence, if it is no such file, is too large, or takes too long.
    """
    calendars = _calendars(raw)
    series: dict[str, list[Event]] = defaultdict(list)
    cancelled: dict[str, None] = {}
    for calendar in calendars:
        is_cancel = str(calendar.get("METHOD", "")).upper() == "CANCEL"
        for event in calendar.events:
            uid = str(event.get("UID", "")).strip()
            series[uid].append(event)
            if uid and "RECURRENCE-ID" not in event and (is_cancel or _is_cancelled(event)):
                cancelled[uid] = None
    meetings: set[Meeting] = set()
    unread, deadline = 0, monotonic() + SECONDS
    for uid, events in series.items():
        if monotonic() > deadline:
            message = "The events of this file take too long to read."
            raise TapestryError(message, hint="Export fewer of them.")
        try:
            if uid not in cancelled:
                meetings.update(_meetings(events, now, zone, me))
        except Exception:  # the library raises various errors; a bad event costs no other
            unread += 1
    soonest = sorted(meetings, key=lambda meeting: (meeting.starts, meeting.address))
    return Events(tuple(soonest[:MOST]), tuple(cancelled)[:MOST], unread)


def _calendars(raw: bytes) -> list[Calendar]:
    if len(raw) > LARGEST:
        message = f"This file is larger than {LARGEST >> 20} MB."
        raise TapestryError(message, hint="Export fewer events.")
    try:
        components = Calendar.from_ical(raw, multiple=True)
    except Exception:  # the library raises various errors for what is no calendar
        components = []
    calendars = [calendar for calendar in components if isinstance(calendar, Calendar)]
    if not calendars:
        hint = "Choose an iCalendar file (.ics), as calendars export it."
        raise TapestryError("There is no calendar in this file.", hint=hint)
    return calendars


def _meetings(
    events: list[Event], now: int, zone: ZoneInfo, me: Collection[str]
) -> Iterator[Meeting]:
    """Yield whom somebody meets at the events of one UID, which are a series and exceptions."""
    if any(map(_is_too_much, events)):
        raise ValueError("an event that repeats so often is no meeting")
    calendar = Calendar()
    for event in events:
        calendar.add_component(event)
    span = to_datetime(now - BEHIND), to_datetime(now + AHEAD)
    for event in recurring_ical_events.of(calendar).between(*span):
        if not _is_cancelled(event):
            starts = _instant(event.start, zone)
            yield from (Meeting(address, starts) for address in _people(event, me))


def _is_too_much(event: Event) -> bool:
    """Tell whether an event repeats within a day, or since before 1970: there are too many."""
    for rule in event.rrules:
        often = _TOO_OFTEN.intersection(map(str.upper, rule.get("FREQ", [])))
        if often or any(name in rule for name in _IN_A_DAY) or event.start.year < 1970:
            return True
    return False


def _is_cancelled(event: Event) -> bool:
    return str(event.get("STATUS", "")).upper() == "CANCELLED"


def _instant(start: date, zone: ZoneInfo) -> int:
    moment = start if isinstance(start, datetime) else datetime.combine(start, time())
    return to_instant(moment if moment.tzinfo else moment.replace(tzinfo=zone))


def _people(event: Event, me: Collection[str]) -> list[str]:
    """Return the addresses of others who come, in small letters; none if one's own was declined."""
    coming: dict[str, None] = {}
    for person in filter(None, [event.get("ORGANIZER"), *event.attendees]):
        declined = person.params.get("PARTSTAT", "").upper() == "DECLINED"
        address = _address(person)
        if declined and address in me:
            return []
        if address and not declined and person.params.get("CUTYPE", "").upper() not in _NO_PERSON:
            coming[address] = None
    return [address for address in coming if address not in me]


def _address(person: vCalAddress) -> str:
    scheme, _, rest = str(person).partition(":")
    boxes = mailboxes(rest) if scheme.lower() == "mailto" else []
    return boxes[0].address if len(boxes) == 1 else ""
