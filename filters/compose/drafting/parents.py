"""The message that a letter answers or forwards, as far as its writer may see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from filters.compose.drafting.senders import own_addresses, usual_sender
from filters.compose.models import OutgoingMessage
from filters.people.models import User
from filters.reading import reading
from filters.site.work.parts import services
from tapestry.compose.addressing import Way, addressed, read_headers, references
from tapestry.compose.quoting import (
    attribution,
    forward_subject,
    forwarded,
    quoted,
    reply_subject,
)
from tapestry.compose.recipients import in_words
from tapestry.core.clock import to_datetime
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.read.messages import read_copy
from tapestry.tables.read.originals import original

FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class Parent:
    """A message, and its original bytes if they were kept."""

    message: Message
    raw: bytes | None

    @property
    def author(self) -> str:
        return self.message.sender_name or self.message.sender or ""


def find_parent(owner: User, msgid: str, audience: str | None) -> Parent | None:
    """Return a message for who writes; None where it is not there or not theirs to see."""
    for copy in reading.find(owner, msgid, audience)[:1]:
        row = read_copy(msgid, copy)
        stored = original(services.tables(), msgid, copy)
        if row is not None:
            return Parent(row.message, stored.raw if stored and stored.raw else None)
    return None


def begin(owner: User, parent: Parent, way: Way | str) -> OutgoingMessage:
    """Return the draft, not stored yet, with which a reply or a forwarded message begins."""
    message = parent.message
    draft = OutgoingMessage(
        owner=owner,
        parent=message.msgid,
        parent_audience=message.audience,
        sender=usual_sender(owner, (*message.to, *message.cc)),
        changed_at=0,
    )
    if way == FORWARD:
        draft.is_forward = True
        draft.attach_parent = bool(message.attachments) and parent.raw is not None
        draft.subject = forward_subject(message.subject)
        draft.body = f"\n\n{forwarded(_shown_headers(owner, parent), message.body)}"
        return draft
    kind: Way = way if way in ("all", "list", "followup") else "reply"
    found = addressed(kind, message, read_headers(parent.raw), own_addresses(owner))
    draft.to, draft.cc = in_words(found.to), in_words(found.cc)
    draft.newsgroups = ", ".join(found.newsgroups)
    draft.subject = reply_subject(message.subject)
    quote = quoted(message.body)
    draft.body = (
        f"\n\n{attribution(parent.author, _local(owner, message))}\n{quote}" if quote else ""
    )
    return draft


def referred(parent: Parent | None, *, is_forward: bool) -> tuple[str | None, tuple[str, ...]]:
    """Return In-Reply-To and References: a forwarded message begins a conversation of its own."""
    return (None, ()) if parent is None or is_forward else references(parent.message)


def original_of(owner: User, draft: OutgoingMessage) -> bytes:
    """Return the bytes of the message that is attached; raise TapestryError if they are gone."""
    parent = find_parent(owner, draft.parent, draft.parent_audience or None)
    if parent is None or parent.raw is None:
        raise TapestryError(
            "The original of the message is not kept here, so it cannot be attached.",
            hint="Take it off the list of files; its text is in yours.",
        )
    return parent.raw


def _shown_headers(owner: User, parent: Parent) -> list[tuple[str, str]]:
    message, date = parent.message, _local(owner, parent.message)
    name, sender = message.sender_name or "", message.sender or ""
    return [
        ("From", f"{name} <{sender}>" if name and sender else name or sender),
        ("Date", f"{date.day} {date:%B %Y, %H:%M %z}" if date else ""),
        ("Subject", message.subject or ""),
        ("To", ", ".join(message.to)),
        ("Cc", ", ".join(message.cc)),
        ("Newsgroups", ", ".join(message.newsgroups)),
    ]


def _local(owner: User, message: Message) -> datetime | None:
    instant = message.date if message.date is not None else message.received
    try:
        return None if instant is None else to_datetime(instant).astimezone(owner.zone)
    except (OverflowError, ValueError):
        return None
