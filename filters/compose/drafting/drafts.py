"""Drafts: kept as they are typed, and never overwritten by another window without a word.

A window that opens a draft gets a name, its *editor*, and the version that it shows.  What it sends
is kept if it is of the newest version, or if the last change was its own: its requests may overtake
each other.  Else another window has changed the draft meanwhile, and the person is asked
(optimistic concurrency of drafts).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import Sum

from filters.compose.models import Attachment, OutgoingMessage
from filters.people.budgets import require_room
from filters.people.models import User
from tapestry.compose.letter import file_name
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.servers.quoted_reply import storable

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

    Upload = UploadedFile[Any]

_NO_WINDOW = "files"
"""The editor of a draft to which files were added whose text no window has changed."""

MOST_FILES = 20
MOST_BYTES = 15 * 1024 * 1024
"""Files of a message, and their bytes together; in base64 they take a third more."""

State = OutgoingMessage.State


class ChangedElsewhereError(TapestryError):
    """Another window has changed the draft since this one read it."""


class NotADraftError(TapestryError):
    """The message is being sent, or was; it cannot be changed any more."""


def save_draft(
    owner: User,
    uid: uuid.UUID,
    editor: str,
    version: int,
    fields: Mapping[str, Any],
    files: Sequence[Upload] = (),
    *,
    overwrite: bool = False,
) -> OutgoingMessage:
    """Store a draft as a window has it, and return it; ``fields`` are those of the model.

    Raise ChangedElsewhereError, unless it is to ``overwrite``: then files alone are stored, for
    they replace nothing and no page can send them again.  Raise NotADraftError if it is being sent;
    TapestryError if there are too many drafts, or too many or too large files.
    """
    save = partial(_save, owner, uid, editor, version, fields, files, overwrite=overwrite)
    try:
        return save()
    except IntegrityError:  # another request of the same window has stored it first
        return save()
    except ChangedElsewhereError:
        _add_files(owner, uid, files)
        raise


def is_usually_formatted(owner: User) -> bool:
    """Tell whether the message that a person sent off last is formatted."""
    rows = OutgoingMessage.objects.filter(owner=owner).exclude(state=State.DRAFT)
    return rows.values_list("formatted", flat=True).first() or False


@transaction.atomic
def _add_files(owner: User, uid: uuid.UUID, files: Sequence[Upload]) -> None:
    """Attach files to a draft of which windows show different texts: each is asked then.

    A window that does not show a file must not send it unseen.
    """
    rows = OutgoingMessage.objects.select_for_update().defer("raw")
    draft = rows.filter(owner=owner, uid=uid, state=State.DRAFT).first()
    if draft is None or not files:
        return
    for file in files:
        _attach(draft, file)
    draft.editor, draft.version, draft.changed_at = _NO_WINDOW, draft.version + 1, wall_clock()
    draft.save()


@transaction.atomic
def _save(
    owner: User,
    uid: uuid.UUID,
    editor: str,
    version: int,
    fields: Mapping[str, Any],
    files: Sequence[Upload],
    *,
    overwrite: bool,
) -> OutgoingMessage:
    rows = OutgoingMessage.objects.select_for_update().defer("raw")  # nor is it written
    draft = rows.filter(owner=owner, uid=uid).first()
    if draft is None:
        require_room(owner, "drafts")
        draft = OutgoingMessage(owner=owner, uid=uid, changed_at=wall_clock())
    _check_window(draft, editor, version, overwrite=overwrite)
    changed = {name for name, value in fields.items() if getattr(draft, name) != value}
    if draft.pk is not None and not changed and not files:
        return draft
    for name in changed:
        setattr(draft, name, fields[name])
    draft.editor, draft.version, draft.changed_at = editor, draft.version + 1, wall_clock()
    draft.save()
    for file in files:
        _attach(draft, file)
    return draft


def _check_window(draft: OutgoingMessage, editor: str, version: int, *, overwrite: bool) -> None:
    if not draft.is_draft:
        raise NotADraftError("This message is being sent, or was sent: it cannot be changed now.")
    is_newest = draft.version == version or draft.editor in ("", editor)
    if not is_newest and not overwrite:
        raise ChangedElsewhereError(
            "This draft was changed in another window, so it was not saved here.",
            hint="Nothing of either is lost: choose which one to keep.",
        )


def _attach(draft: OutgoingMessage, file: Upload) -> None:
    files = draft.attachments.all()
    if files.count() >= MOST_FILES:
        raise TapestryError(f"A message may have {MOST_FILES} files.")
    size = file.size or 0
    total = size + (files.aggregate(total=Sum("size"))["total"] or 0)
    name = file_name(file.name or "")
    if total > MOST_BYTES:
        raise TapestryError(
            f"The files are {total / 2**20:.1f} MiB in total; the limit is {MOST_BYTES >> 20} MiB.",
            hint="The new ones were not attached. Send them in another way, or in parts.",
        )
    require_room(draft.owner, "bytes", size)
    kind = storable(file.content_type or "")[:100]
    Attachment.objects.create(
        message=draft, name=name, content_type=kind, size=size, content=file.read()
    )


@transaction.atomic
def remove_file(draft: OutgoingMessage, editor: str, key: int) -> None:
    """Take a file off a draft in a window.

    Another window, which shows the file, must not send without it unseen.
    """
    rows = OutgoingMessage.objects.select_for_update().defer("raw")
    current = rows.filter(pk=draft.pk, state=State.DRAFT).first()
    if current is None or not current.attachments.filter(pk=key).delete()[0]:
        return
    current.editor, current.version, current.changed_at = editor, current.version + 1, wall_clock()
    current.save()


def delete(draft: OutgoingMessage) -> bool:
    """Delete a draft, or a message that was refused; return False if it is being sent, or was."""
    if draft.state in (State.QUEUED, State.SENT):
        return False
    rows = OutgoingMessage.objects.filter(pk=draft.pk, state=draft.state, holder="")
    return bool(rows.delete()[0])
