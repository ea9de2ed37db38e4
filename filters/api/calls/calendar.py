"""Calls about the calendar of the caller."""

from __future__ import annotations

from datetime import datetime

from ninja import Field, Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.people.requests import PersonRequest
from filters.reading.calendar import clear, meetings_of, replace
from filters.reading.tasks import append_soon
from tapestry.core.clock import to_datetime
from tapestry.mime.icalendar_file import LARGEST

router = Router(tags=["calendar"])
READ, ACT = PersonalToken("read"), PersonalToken("acts")


class CalendarIn(Schema):
    """The text of an iCalendar file."""

    events: str = Field(max_length=LARGEST)


class CalendarOut(Schema):
    """How many meetings and cancelled events a calendar has now, and how many were unreadable."""

    meetings: int
    cancelled: int
    unread: int


class MeetingOut(Schema):
    """Somebody whom the caller meets."""

    address: str
    starts: datetime


@router.get("/calendar", auth=READ, response=list[MeetingOut])
def list_meetings(request: PersonRequest) -> list[dict[str, object]]:
    """List whom the caller meets, those that come first before others."""
    rows = meetings_of(request.user)
    return [{"address": row.value, "starts": to_datetime(row.starts or 0)} for row in rows]


@router.put("/calendar", auth=ACT, response=CalendarOut)
def replace_calendar(request: PersonRequest, given: CalendarIn) -> object:
    """Have the events of a file take the place of the calendar; filters speak of them soon."""
    done = replace(request.user, given.events.encode(errors="surrogatepass"))
    append_soon()
    return done._asdict()


@router.delete("/calendar", auth=ACT, response={204: None})
def clear_calendar(request: PersonRequest) -> Status[None]:
    """Take all that has not begun out of the calendar."""
    clear(request.user)
    append_soon()
    return Status(204, None)
