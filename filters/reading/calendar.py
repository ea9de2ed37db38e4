"""The calendar of a person: whom they meet, and what was cancelled, as the file says last given.

Each is an annotation, as contacts are.  What begins is over soon, and stays as it was.  Calendars
on servers say the same besides (filters.sources.pull.resources), and a file replaces none of that.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from filters.people import people
from filters.people.models import User
from filters.reading.address_book import listed, synced
from filters.reading.annotations.changes import locked
from filters.reading.annotations.outbox import annotate_all, take_back
from tapestry.core.clock import wall_clock
from tapestry.core.contacts import CANCELLED, MEETING, calendar_of
from tapestry.core.message import Annotation
from tapestry.mime.icalendar_file import events_in

Entry = tuple[str, str, int | None]
"""Kind, value and start of an annotation."""


class Replaced(NamedTuple):
    """How many meetings and cancelled events a calendar has now, and how many were unreadable."""

    meetings: int
    cancelled: int
    unread: int


def meetings_of(user: User) -> list[Annotation]:
    """Return the meetings of a person that have not begun, those that come first before others."""
    now = wall_clock()
    coming = {
        (row.starts, row.value or ""): row
        for row in _calendar(user)
        if row.kind == MEETING and row.starts is not None and row.starts > now
    }
    return [coming[key] for key in sorted(coming)]


def replace(user: User, raw: bytes) -> Replaced:
    """Have the events of a file take the place of those that a person's calendar has."""
    now = wall_clock()
    mine = people.addresses(user)
    events = events_in(raw, now, user.zone, mine)
    given: set[Entry] = {(MEETING, meeting.address, meeting.starts) for meeting in events.meetings}
    given |= {(CANCELLED, uid, None) for uid in events.cancelled}
    _become(user, given, now, spare=synced(user))
    return Replaced(len(events.meetings), len(events.cancelled), events.unread)


def clear(user: User) -> None:
    """Take out of a person's calendar all that has not begun."""
    _become(user, set(), wall_clock(), spare=())


def _become(user: User, given: set[Entry], now: int, spare: Collection[str]) -> None:
    with locked(user):
        rows = [row for row in _calendar(user) if row.annid not in spare]
        known = {(row.kind, row.value or "", row.starts) for row in rows}
        gone = [
            row
            for row in rows
            if (row.kind, row.value or "", row.starts) not in given and not _has_begun(row, now)
        ]
        take_back(user, gone)
        new = sorted(given - known, key=lambda entry: (entry[2] or 0, entry[1]))
        annotate_all(user, calendar_of(user.get_username()), new)


def _calendar(user: User) -> list[Annotation]:
    return listed(user, calendar_of(user.get_username()))


def _has_begun(row: Annotation, now: int) -> bool:
    return row.starts is not None and row.starts <= now
