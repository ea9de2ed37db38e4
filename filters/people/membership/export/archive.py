"""Write an export: a zip of files that other programs read.

    profile.json      what this site knows of the person
    filters.toml      their filters, as the page "Import and export filters" reads them again
    aggregates.sql    the aggregates that they have defined
    annotations.jsonl their votes, tags and notes, and those of others that are for them alone
    triage.jsonl      what they starred, snoozed, are done with, wait for, and muted
    written.mbox      their drafts, and what they sent of late or could not send
    mail.mbox         the mail that is for them alone, what they sent among it

It is streamed to the disk, under another name until it is whole.  Nothing of mail for groups or for
everybody is in it: that is not one person's to take.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

from filters.authoring.importing.own_file import write_filters
from filters.authoring.models import Filter
from filters.people.membership.export.belongings import (
    annotation_line,
    triage_lines,
    waiting_annotations,
)
from filters.people.membership.export.mbox import entry, rebuilt
from filters.people.membership.export.profile import profile_json
from filters.people.membership.export.written import written_entries
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.core.files.disk_space import require_room
from tapestry.tables.backup import files_kept
from tapestry.tables.forget.belongings import annotations_by, messages_of

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
            filters = Filter.objects.filter(owner=user).order_by("name")
            archive.writestr("filters.toml", write_filters(filters, user.zone))
            defined = user.aggregates.values_list("text", flat=True)
            archive.writestr(
                "aggregates.sql", "".join(f"{text.rstrip(' ;')};\n" for text in defined)
            )
            with archive.open("annotations.jsonl", "w", force_zip64=True) as lines:
                for row in annotations_by(tables, user.get_username(), audience):
                    lines.write(annotation_line(row.ts, row.annotation).encode())
                    annotations += 1
                for waiting in waiting_annotations(user):
                    lines.write(annotation_line(None, waiting).encode())
                    annotations += 1
            with archive.open("triage.jsonl", "w", force_zip64=True) as lines:
                for line in triage_lines(user):
                    lines.write(line.encode())
            with archive.open("written.mbox", "w", force_zip64=True) as box:
                for written in written_entries(user):
                    require_room(services.data())
                    box.write(written)
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
