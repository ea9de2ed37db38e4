r"""What was sent: a message of its conversation here, and one of the folder \Sent of its writer.

It is appended to the tables as it would be if it came back: the copy that a source reads from the
folder, or a list sends, is the same message by its Message-ID and content (tapestry.identity),
and adds nothing.
"""

from __future__ import annotations

from dataclasses import replace

from filters.compose.models import OutgoingMessage
from filters.runs.models import Clock
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from filters.site.work.queues.queue import TICK, run_soon
from filters.sources.accounts.credentials import account_of
from filters.sources.models import Source
from tapestry.core.message import Message
from tapestry.deliver.imap.sent_folder import keep_sent
from tapestry.identity.content import message_id_of
from tapestry.ingest.parse import UNREADABLE, parse
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.compact import compact_small_files

PATIENCE = 30.0
LIMIT = 120.0
"""Seconds for each response of a mailbox, and for all of a connection."""


def store(row: OutgoingMessage, accepted_at: int) -> int:
    """Append what was sent to the messages of who sent it; return from when it is visible.

    Idempotent: the tables know its Message-ID.  Nothing is appended for somebody who is gone.
    """
    tables = services.tables()
    receipt = append_messages(
        tables,
        DjangoClock(),
        [_message(row, accepted_at)],
        originals=[Original(bytes(row.raw or b""))],
        forbidden=lambda: not _is_there(row),
    )
    run_soon(TICK)
    compact_small_files(tables)
    return Clock.instant() if receipt.ts is None else receipt.ts


def _message(row: OutgoingMessage, accepted_at: int) -> Message:
    audience = f"user:{row.owner.get_username()}"
    found = parse(bytes(row.raw or b""), None, audience, accepted_at)
    if UNREADABLE in found.problems:  # it would be stored as another message than the copies of it
        raise ValueError(f"this site cannot read its own letter: {found.problems}")
    parsed = found.message
    if parsed.inreplyto is None and row.parent and not row.is_forward:
        # What it answers has no Message-ID that a header could name; the conversation has it.
        return replace(parsed, inreplyto=message_id_of(row.parent))
    return parsed


def _is_there(row: OutgoingMessage) -> bool:
    """Tell whether a row is still there; it stays until the caller's transaction ends."""
    rows = OutgoingMessage.objects.select_for_update().filter(pk=row.pk)
    return bool(rows.values_list("pk"))


def file(row: OutgoingMessage, sent_at: int) -> str:
    r"""Put what was sent into the folder \Sent of a mailbox of who sent it; return where.

    Empty if they have no mailbox with such a folder.  Raises TapestryError, in words.
    """
    for source in _mailboxes(row):
        folder = keep_sent(account_of(source), bytes(row.raw or b""), sent_at, PATIENCE, LIMIT)
        if folder is not None:
            return f"{folder} of {source}"
    return ""


def _mailboxes(row: OutgoingMessage) -> list[Source]:
    """Return the mailboxes of who sent it, that of the address it is from first."""
    sources = Source.objects.filter(owner=row.owner, kind=Source.Kind.IMAP, active=True)
    return sorted(
        sources, key=lambda source: (source.user.lower() != row.sender.lower(), source.pk)
    )
