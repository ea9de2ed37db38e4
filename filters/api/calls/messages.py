"""Calls about messages: what they say, what people say of them, and what the caller does."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from ninja import Router, Status

from filters.api.authentication import PersonalToken
from filters.api.given import checked, form_data
from filters.api.problems import RefusedError, refusal
from filters.api.schemas import (
    ActIn,
    ActOut,
    AnnotationIn,
    ChangedOut,
    MessageOut,
    ThreadLine,
    UndoneIn,
    message_out,
)
from filters.inbox.lists.cards import CopyKey
from filters.inbox.triage import steps
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.snoozing import check_moment
from filters.inbox.triage.targets import named_targets
from filters.people.requests import PersonRequest
from filters.reading import reading
from filters.reading.annotations import changes, opinions
from filters.reading.annotations.forms import AnnotationForm
from filters.reading.annotations.outbox import newest_key
from filters.reading.tasks import append_soon
from filters.reading.views.originals import download
from filters.site.work.crypto import arrival_tokens
from tapestry.core.clock import to_datetime, to_instant
from tapestry.core.errors import TapestryError

router = Router(tags=["messages"])
READ, ACT = PersonalToken("read"), PersonalToken("acts")


@router.get("/message", auth=READ, response=MessageOut)
def message(request: PersonRequest, id: str, audience: str = "") -> MessageOut:
    """Return a message: its columns, its text, votes and tags.  It is not marked read."""
    return message_out(_visible(request, id, audience))


@router.get("/thread", auth=READ, response=list[ThreadLine])
def thread(request: PersonRequest, id: str, audience: str = "") -> list[ThreadLine]:
    """Return the thread of a message as far as the caller may see it, each before its replies."""
    return [
        ThreadLine(
            id=entry.card.msgid,
            sender=entry.card.sender or "",
            sender_name=entry.card.sender_name or "",
            subject=entry.card.subject or "",
            received=to_datetime(entry.card.received),
            depth=entry.depth,
            parent=entry.parent or "",
        )
        for entry in _visible(request, id, audience).thread
    ]


@router.get("/message/original", auth=READ)
def original(request: PersonRequest, id: str) -> HttpResponse:
    """Return a message as it came, as message/rfc822; ``in`` names the audience of a copy."""
    return download(request)


@router.post("/annotations", auth=ACT, response=ChangedOut)
def annotate(request: PersonRequest, given: AnnotationIn) -> ChangedOut:
    """Vote for a message, tag it, write a note to it, or take that back."""
    shown = _visible(request, given.id, given.audience)
    private = given.kind if given.private else ""
    form = checked(AnnotationForm(form_data(given.dict() | {"private": private})))
    copy = shown.message
    change = opinions.keep(request.user, copy.msgid, copy.audience, form.cleaned_data)
    append_soon()
    return ChangedOut(
        changed=bool(change),
        change=changes.signed(request.user, change) if change else "",
        token=arrival_tokens.of_annotation(newest_key(request.user, copy.msgid)),
    )


@router.post("/annotations/undo", auth=ACT, response={204: None})
def undo_annotation(request: PersonRequest, given: UndoneIn) -> Status[None]:
    """Undo what a call said of a message, or took back, except what was said since."""
    change = changes.read_change(request.user, given.change)
    if change is None or not reading.find(request.user, change.msgid):
        raise RefusedError(404, "This can no longer be undone.")
    changes.undo(request.user, change)
    append_soon()
    return Status(204, None)


@router.post("/acts", auth=ACT, response=ActOut)
def act(request: PersonRequest, given: ActIn) -> ActOut:
    """Do with messages what the lists offer: done, inbox, star, read, snooze, mute, and back."""
    action = ACTIONS.get(given.action)
    if action is None:
        raise RefusedError(422, f"There is no such action. There are {', '.join(ACTIONS)}.")
    until = None
    if action.name == "snooze":
        if given.until is None:
            raise RefusedError(422, "Say until when, with an instant to come: “until”.")
        until = check_moment(to_instant(given.until))
    copies = list(dict.fromkeys(CopyKey(copy.id, copy.audience) for copy in given.messages))
    try:
        targets = named_targets(request.user, action, copies)
    except TapestryError as error:
        raise refusal(error, 409) from error
    step = steps.act(request.user, action, targets, until)
    return ActOut(step=str(step.pk), count=step.count)


@router.delete("/acts/{step}", auth=ACT, response={204: None})
def undo(request: PersonRequest, step: UUID) -> Status[None]:
    """Undo an act, except what was changed since."""
    if steps.undo(request.user, step) is None:
        raise RefusedError(404, "This can no longer be undone.")
    return Status(204, None)


def _visible(request: PersonRequest, msgid: str, audience: str) -> reading.Reading:
    shown = reading.read(request.user, msgid, audience or None)
    if shown is None:
        raise Http404
    return shown
