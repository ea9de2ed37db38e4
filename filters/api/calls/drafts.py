"""Calls about mail that the caller writes: drafts, sending them, and templates."""

from __future__ import annotations

import uuid
from base64 import b64decode
from binascii import Error as NoBase64Error
from datetime import datetime
from typing import Annotated, Any, Literal

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.given import checked, decrypted, form_data, typed
from filters.api.problems import RefusedError
from filters.api.schemas import moment
from filters.compose.drafting import drafts, parents, texts
from filters.compose.drafting.drafts import ChangedElsewhereError, NotADraftError
from filters.compose.drafting.formatting import text_as_it_looks
from filters.compose.drafting.senders import usual_sender
from filters.compose.forms import CHOSEN, DraftForm
from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox
from filters.compose.tasks import send_soon
from filters.inbox.triage.snoozing import check_moment
from filters.people.requests import PersonRequest
from filters.site.work.crypto import opaque_keys
from tapestry.core.clock import to_instant

router = Router(tags=["drafts"])
READ, WRITE, SEND = PersonalToken("read"), PersonalToken("drafts"), PersonalToken("send")

State = OutgoingMessage.State


class FileIn(Schema):
    """A file that is attached: its ``content`` in base64."""

    name: str = Field(min_length=1, max_length=200)
    type: str = Field("application/octet-stream", max_length=100)
    content: str


class DraftChange(Schema):
    """Fields of a draft, as they are typed; what is left out stays, and ``files`` are added.

    ``remind_at``: come back then unless somebody answers, and every ``remind_every`` days again.
    With the ``version`` that was read, a draft that was changed since is left as it is (409).
    """

    sender: str | None = None
    to: str | None = None
    cc: str | None = None
    bcc: str | None = None
    newsgroups: str | None = None
    subject: str | None = None
    body: str | None = None
    formatted: bool | None = None
    attach_parent: bool | None = None
    remind_at: datetime | None = None
    remind_every: Literal[0, 1, 3, 7, 14] | None = None
    files: list[FileIn] = Field([], max_length=20)
    version: int | None = Field(None, ge=0, le=2**31 - 1)


class DraftIn(DraftChange):
    """A new draft.  ``answers`` is the message that it answers, by ``way``, or forwards."""

    answers: str = ""
    audience: str = ""
    way: Literal["reply", "all", "list", "followup", "forward"] = "reply"


class AttachedOut(Schema):
    """A file of a draft, and its bytes."""

    key: str
    name: str
    size: int


class DraftLine(Schema):
    """What the caller writes, has sent off, or wanted to; ``error`` says what is wrong."""

    id: uuid.UUID
    state: Literal["draft", "queued", "sent", "refused"]
    subject: str
    to: str
    send_at: datetime | None
    error: str


class DraftOut(DraftLine):
    """A draft in full; ``html`` is its text as it will look, ``refused`` whom a server refused."""

    version: int
    sender: str
    cc: str
    bcc: str
    newsgroups: str
    body: str
    html: str
    formatted: bool
    attach_parent: bool
    answers: str
    remind_at: datetime | None
    files: list[AttachedOut]
    refused: dict[str, str]


class SendIn(Schema):
    """When to send; null is in ten seconds, in which it can be undone."""

    at: datetime | None = None


Page = Annotated[int, Field(ge=1, le=100)]
"""The number of a page, 1 of the first."""

PAGE = 50


@router.get("/drafts", auth=READ, response=list[DraftLine])
def list_drafts(request: PersonRequest, page: Page = 1) -> list[DraftLine]:
    """List what the caller writes and has sent off, the last changed first, 50 a page."""
    rows = OutgoingMessage.objects.filter(owner=request.user).defer("raw", "body")
    return [DraftLine(**_line(row)) for row in rows[(page - 1) * PAGE : page * PAGE]]


@router.post("/drafts", auth=WRITE, response={201: DraftOut})
def make_draft(request: PersonRequest, given: DraftIn) -> Status[DraftOut]:
    """Make a draft: a new message, an answer with its quotation, or one that is forwarded."""
    owner = request.user
    if given.answers:
        parent = parents.find_parent(owner, given.answers, given.audience or None)
        if parent is None:
            raise Http404
        draft = parents.begin(owner, parent, given.way)
    else:
        draft = OutgoingMessage(owner=owner, sender=usual_sender(owner), changed_at=0)
    draft.formatted = drafts.is_usually_formatted(owner)
    texts.sign(draft)
    return Status(201, _saved(request, draft, given))


@router.get("/drafts/{id}", auth=READ, response=DraftOut)
def show_draft(request: PersonRequest, id: uuid.UUID) -> DraftOut:
    """Show a draft, or how sending it stands."""
    return _shown(_own(request, id))


@router.patch("/drafts/{id}", auth=WRITE, response=DraftOut)
def change_draft(request: PersonRequest, id: uuid.UUID, given: DraftChange) -> DraftOut:
    """Change a draft; 409 if it is being sent, or was changed since its ``version``."""
    return _saved(request, _own(request, id), given)


@router.delete("/drafts/{id}", auth=WRITE, response={204: None})
def delete_draft(request: PersonRequest, id: uuid.UUID) -> Status[None]:
    """Delete a draft, or a message that was refused; 409 for one that is being sent, or was."""
    row = _own(request, id)
    if not drafts.delete(row):
        raise RefusedError(409, "This message is being sent, or was sent: it is not deleted.")
    return Status(204, None)


@router.delete("/drafts/{id}/files/{key}", auth=WRITE, response={204: None})
def remove_file(request: PersonRequest, id: uuid.UUID, key: str) -> Status[None]:
    """Take a file off a draft."""
    row = _own(request, id)
    if not row.attachments.filter(pk=decrypted(key)).exists():
        raise Http404
    drafts.remove_file(row, str(uuid.uuid4()), decrypted(key))
    return Status(204, None)


@router.post("/drafts/{id}/send", auth=SEND, response=DraftOut)
def send_draft(request: PersonRequest, id: uuid.UUID, given: SendIn) -> DraftOut:
    """Send a draft off, now or at an instant; one that waits for its time, at another."""
    row = _own(request, id)
    at = None if given.at is None else check_moment(to_instant(given.at))
    if row.is_draft:
        outbox.queue(row, at)
    elif not outbox.reschedule(row, at):
        raise RefusedError(409, "It is too late: it is being sent, or was.")
    if at is None:
        send_soon(row.pk)
    return _shown(_own(request, id))


@router.post("/drafts/{id}/undo", auth=SEND, response=DraftOut)
def undo_sending(request: PersonRequest, id: uuid.UUID) -> DraftOut:
    """Make a draft again of what was sent off, if nobody has got it yet; else 409."""
    row = _own(request, id)
    if not row.is_draft and not outbox.undo(row):
        raise RefusedError(409, "It is too late: it has been sent.")
    return _shown(_own(request, id))


@router.post("/drafts/{id}/again", auth=SEND, response=DraftOut)
def send_again(request: PersonRequest, id: uuid.UUID) -> DraftOut:
    """Try the recipients again that were refused; 409 if there are none."""
    row = _own(request, id)
    if not outbox.send_again(row):
        raise RefusedError(409, "Nobody has refused it.")
    send_soon(row.pk, 0)
    return _shown(_own(request, id))


def _own(request: PersonRequest, uid: uuid.UUID) -> OutgoingMessage:
    rows = OutgoingMessage.objects.defer("raw").select_related("owner")
    return get_object_or_404(rows, owner=request.user, uid=uid)


def _saved(request: PersonRequest, draft: OutgoingMessage, given: DraftChange) -> DraftOut:
    """Save a draft as its page does, in a window of this call's own."""
    owner = request.user
    aside = {"files", "remind_at", "answers", "audience", "way"}
    changed = given.dict(exclude_unset=True, exclude_none=True, exclude=aside)
    data: dict[str, Any] = DraftForm.initial_of(draft, str(uuid.uuid4())) | changed
    if "remind_at" in given.model_fields_set:
        data |= {"remind": "", "remind_by": ""}
    if given.remind_at is not None:
        data |= {"remind": CHOSEN, "remind_by": typed(given.remind_at, owner)}
    form = checked(DraftForm(form_data(data)))
    fields, window = form.cleaned_data, str(form.cleaned_data["editor"])
    form.remind_at(owner)
    try:
        saved = drafts.save_draft(
            owner, fields["uid"], window, fields["version"], form.kept(owner), _files(given)
        )
    except (ChangedElsewhereError, NotADraftError) as error:
        raise RefusedError(409, error.message) from error
    return _shown(saved)


def _files(given: DraftChange) -> list[SimpleUploadedFile]:
    try:
        return [
            SimpleUploadedFile(file.name, b64decode(file.content, validate=True), file.type)
            for file in given.files
        ]
    except NoBase64Error as error:
        raise RefusedError(422, "The content of a file is not in base64.") from error


def _line(row: OutgoingMessage) -> dict[str, Any]:
    return {
        "id": row.uid,
        "state": row.state,
        "subject": row.subject,
        "to": row.to,
        "send_at": moment(row.send_at),
        "error": row.error,
    }


def _shown(row: OutgoingMessage) -> DraftOut:
    files = row.attachments.defer("content")
    return DraftOut(
        **_line(row),
        **{name: getattr(row, name) for name in SHOWN},
        html=text_as_it_looks(row.body, is_formatted=row.formatted),
        answers=row.parent,
        remind_at=moment(row.remind_at),
        files=[
            AttachedOut(key=opaque_keys.encrypt(file.pk), name=file.name, size=file.size)
            for file in files
        ],
    )


SHOWN = (
    *("version", "sender", "cc", "bcc", "newsgroups", "body", "formatted", "attach_parent"),
    "refused",
)
"""Fields of a draft that answers have as they are stored."""
