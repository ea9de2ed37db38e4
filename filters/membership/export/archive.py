"""Write an export: mail.mbox, annotations.jsonl, filters.txt and profile.json in a zip.

It is streamed to the disk, under another name until it is whole.  Nothing of mail for groups or for
everybody is in it: that is not one person's to take.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User

from filters.membership.export.belongings import (
    annotation_line,
    filters_text,
    profile_json,
    waiting_annotations,
)
from filters.membership.export.mbox import entry, rebuilt
from filters.runtime import services
from tapestry.core.disk_space import require_room
from tapestry.tables.backup import files_kept
from tapestry.tables.belongings import annotations_by, messages_of

ROOM_EVERY = 256
"""Messages after which it is seen again whether the disk has room."""


@dataclass(frozen=True, slots=True)
class Content:
    """How much is in an archive: messages, annotations, and its bytes."""

    messages: int
    annotations: int
    size: int


def write(user: User, path: Path) -> Content:
    """Write the archive of a person; raise DiskFullError before the disk is full."""
    tables, audience = services.tables(), f"user:{user.get_username()}"
    draft = path.with_suffix(".unfinished")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    tables.root.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    messages = annotations = 0
    try:
        with (
            os.fdopen(os.open(draft, flags, 0o600), "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
            files_kept(tables.root),
        ):
            archive.writestr("profile.json", profile_json(user))
            archive.writestr("filters.txt", filters_text(user))
            with archive.open("annotations.jsonl", "w", force_zip64=True) as lines:
                for row in annotations_by(tables, user.get_username(), audience):
                    lines.write(annotation_line(row.ts, row.annotation).encode())
                    annotations += 1
                for waiting in waiting_annotations(user):
                    lines.write(annotation_line(None, waiting).encode())
                    annotations += 1
            with archive.open("mail.mbox", "w", force_zip64=True) as box:
                for message_row, raw in messages_of(tables, audience):
                    if messages % ROOM_EVERY == 0:
                        require_room(services.data())
                    message = message_row.message
                    box.write(entry(raw or rebuilt(message), message.received))
                    messages += 1
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return Content(messages, annotations, path.stat().st_size)
