"""Calls about the caller's lists: what is in them, how much of it, and reminders."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.schemas import ActOut, MessageLine, moment
from filters.authoring import reminders
from filters.authoring.models import Filter, Reminder
from filters.inbox import counts, folding
from filters.inbox.lists import listing
from filters.inbox.lists.cards import CopyKey
from filters.inbox.models import Card
from filters.inbox.pages import page_of
from filters.inbox.triage import lists, steps
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.snoozing import check_moment
from filters.inbox.triage.targets import unread_targets
from filters.people import people
from filters.people.requests import PersonRequest
from filters.reading import reading
from filters.reading.tasks import append_soon
from tapestry.core.clock import to_datetime, to_instant

router = Router(tags=["lists"])
READ, ACT = PersonalToken("read"), PersonalToken("acts")

PAGE = 50
FURTHEST_PAGE = 1000
Page = Annotated[int, Field(ge=1, le=FURTHEST_PAGE)]
"""The number of a page, 1 of the first."""

List = Literal["inbox", "starred", "snoozed", "done", "muted"]


class CountOut(Schema):
    """How much a filter's list has, and what of it is unread or is to be shown later."""

    filter: str
    total: int
    unread: int
    waiting: int


class CountsOut(Schema):
    """How much there is in the inbox, and in the list of each filter."""

    total: int
    unread: int
    filters: list[CountOut]


class ListIn(Schema):
    """A list: that of a filter, or the inbox for ""."""

    filter: str = ""


class ReminderIn(Schema):
    """A message that comes back at an instant unless somebody answers it, and ``every`` so many
    days from then on; 0 is once.
    """

    id: str = Field(min_length=1)
    audience: str = ""
    until: datetime
    every: Literal[0, 1, 3, 7, 14] = 0


class ReminderOut(Schema):
    """A reminder; ``next`` is when its message comes back next."""

    id: str
    audience: str
    every: int
    next: datetime | None


@router.get("/counts", auth=READ, response=CountsOut)
def show_counts(request: PersonRequest) -> CountsOut:
    """Count what is in the inbox and in each list, as beside the caller's filters."""
    sidebar = counts.sidebar(request.user)
    names = ("total", "unread", "waiting")
    filters = [
        CountOut(filter=of.name, **{name: getattr(of, name) for name in names})
        for of in sidebar.filters
    ]
    return CountsOut(total=sidebar.total, unread=sidebar.unread, filters=filters)


@router.get("/lists/{name}", auth=READ, response=list[MessageLine])
def show_list(request: PersonRequest, name: List, page: Page = 1) -> list[MessageLine]:
    """Return a page of 50 messages of a list; fewer are the last."""
    begin, end = (page - 1) * PAGE, page * PAGE
    if name == "inbox":
        cards = _matches(request, None, page)
    elif name == "muted":
        cards = list(listing.cards(request.user, muted=True)[begin:end])
    else:
        states = lists.states_of(request.user, lists.SHELVES[name])
        cards = lists.cards_of(list(states[begin:end]))
    return [_line(card) for card in cards]


@router.get("/filters/{name}/messages", auth=READ, response=list[MessageLine])
def show_filter_list(request: PersonRequest, name: str, page: Page = 1) -> list[MessageLine]:
    """Return a page of 50 messages of a filter's list, as it is now; fewer are the last."""
    return [_line(card) for card in _matches(request, _named(request, name), page)]


@router.post("/read", auth=ACT, response=ActOut)
def mark_all_read(request: PersonRequest, given: ListIn) -> ActOut:
    """Mark all that is unread in a list as read; ``step`` is empty if nothing was."""
    filter_ = _named(request, given.filter) if given.filter else None
    targets = unread_targets(request.user, filter_)
    if not targets:
        return ActOut(step="", count=0)
    step = steps.act(request.user, ACTIONS["read"], targets)
    return ActOut(step=str(step.pk), count=step.count)


@router.post("/filters/{name}/show", auth=ACT, response={204: None})
def show_now(request: PersonRequest, name: str) -> Status[None]:
    """Show at once what a filter found and would show later."""
    listing.show_now(_named(request, name))
    return Status(204, None)


@router.post("/filters/{name}/unfold", auth=ACT, response={204: None})
def unfold(request: PersonRequest, name: str) -> Status[None]:
    """Show each message that a filter found in mail of before in the inbox."""
    folding.unfold(_named(request, name))
    return Status(204, None)


@router.post("/filters/{name}/fold", auth=ACT, response={204: None})
def fold(request: PersonRequest, name: str) -> Status[None]:
    """Make one line again of what a filter found in mail of before."""
    folding.fold(_named(request, name))
    return Status(204, None)


@router.get("/reminders", auth=READ, response=list[ReminderOut])
def list_reminders(request: PersonRequest, after: str = "") -> list[ReminderOut]:
    """List the messages that wait for an answer, by Message-ID, 100 after one."""
    own = Reminder.objects.filter(owner=request.user, audience__in=people.audiences(request.user))
    return [_reminder(row) for row in own.filter(msgid__gt=after).order_by("msgid")[:100]]


@router.post("/reminders", auth=ACT, response=ReminderOut)
def remind(request: PersonRequest, given: ReminderIn) -> ReminderOut:
    """Have a message come back at an instant, unless somebody answers it."""
    message = _copy(request, given.id, given.audience)
    until = check_moment(to_instant(given.until))
    reminders.remind(request.user, message, until, given.every)
    append_soon()
    return _reminder(Reminder.objects.get(owner=request.user, msgid=message.msgid))


@router.delete("/reminders", auth=ACT, response={204: None})
def forget(
    request: PersonRequest, id: str, audience: str = "", *, settled: bool = False
) -> Status[None]:
    """Take a reminder back; ``settled``: no answer is waited for any more."""
    reminders.forget(request.user, _copy(request, id, audience), settled=settled)
    append_soon()
    return Status(204, None)


def _copy(request: PersonRequest, msgid: str, audience: str) -> CopyKey:
    visible = reading.find(request.user, msgid, audience or None)
    if not visible:
        raise Http404
    return CopyKey(msgid, visible[0].audience)


def _named(request: PersonRequest, name: str) -> Filter:
    return get_object_or_404(Filter, owner=request.user, name=name)


def _reminder(row: Reminder) -> ReminderOut:
    return ReminderOut(
        id=row.msgid, audience=row.audience, every=row.every, next=moment(row.next_at)
    )


def _matches(request: PersonRequest, filter_: Filter | None, page: int) -> list[Card]:
    total = counts.sidebar(request.user).total_of(filter_)
    is_there = (page - 1) * PAGE < total
    return list(page_of(request.user, filter_, str(page), PAGE, total)) if is_there else []


def _line(card: Card) -> MessageLine:
    return MessageLine(
        id=card.msgid,
        sender=card.sender,
        sender_name=card.sender_name,
        subject=card.subject,
        received=to_datetime(card.received),
    )
