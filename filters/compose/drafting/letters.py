"""A draft to the letter that is sent: everything in it is checked, each error names its field."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from filters.compose.drafting.contacts import recipients
from filters.compose.drafting.formatting import html_part
from filters.compose.drafting.parents import Parent, find_parent, original_of, referred
from filters.compose.drafting.senders import sender_of
from filters.compose.models import OutgoingMessage
from filters.delivery.mail.outgoing import site_host
from filters.people.models import User
from filters.sources.models import Source
from tapestry.compose.letter import LONGEST_TEXT, File, Letter, newsgroup, to_bytes
from tapestry.compose.recipients import Recipient, at_most, unique
from tapestry.compose.revision import is_same_version
from tapestry.core.clock import to_datetime, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.headers import ascii_address
from tapestry.ingest.nntp.wildmat import matches

Checked = TypeVar("Checked")

LARGEST = 24 * 1024 * 1024
"""Bytes of a letter with its files: what most servers take."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A letter as it is sent, however often it is tried.

    ``recipients`` are the addresses of the envelope, those of blind copies among them.
    """

    message_id: str
    raw: bytes
    recipients: tuple[str, ...]
    news_source: Source | None


class FieldError(TapestryError):
    """A draft that cannot be sent as it is; ``field`` is where, empty if it is all of it."""

    def __init__(self, field: str, error: TapestryError) -> None:
        super().__init__(error.message, hint=error.hint)
        self.field = field


def seal(draft: OutgoingMessage, send_at: int | None = None) -> Sealed:
    """Return a draft as the letter that is sent; raise FieldError, in words, if it is none yet.

    Its date is ``send_at``, or now.  It has a new Message-ID, unless a server may have taken this
    very version of it before.
    """
    owner = draft.owner
    sender = _check("sender", lambda: sender_of(owner, draft.sender))
    to, cc, bcc = (
        _check(name, partial(recipients, owner, getattr(draft, name)))
        for name in ("to", "cc", "bcc")
    )
    groups = _check("newsgroups", lambda: _newsgroups(draft.newsgroups))
    everybody = _check("to", lambda: at_most(unique((*to, *cc, *bcc))))
    if not everybody and not groups:
        raise FieldError("to", TapestryError("Add at least one recipient."))
    if groups and not draft.subject.strip():
        raise FieldError("subject", TapestryError("A newsgroup post needs a subject."))
    if len(draft.body) > LONGEST_TEXT:
        raise FieldError("body", TapestryError(f"A text may have {LONGEST_TEXT:,} characters."))
    source = _check("newsgroups", lambda: news_source(owner, groups)) if groups else None
    files = [
        File(row.name, bytes(row.content), row.content_type) for row in draft.attachments.all()
    ]
    parent = _parent(draft)
    if draft.attach_parent:
        raw = _check("", lambda: original_of(owner, draft))
        files.append(File(attached_name(draft), raw, "message/rfc822"))
    if not (draft.body.strip() or draft.subject.strip() or files):
        raise FieldError("body", TapestryError("This message is empty. Write something first."))
    replied, references = referred(parent, is_forward=draft.is_forward)
    written = Letter(
        sender,
        f"{uuid.uuid4().hex}@{site_host()}",
        to_datetime(send_at or wall_clock()).astimezone(owner.zone),
        draft.subject,
        draft.body,
        unique(to),
        unique(cc),
        groups,
        replied,
        references,
        files,
        html_part(draft.body) if draft.formatted and draft.body.strip() and not groups else "",
    )
    raw = _check("", lambda: to_bytes(written))
    if draft.unanswered_at is not None and is_same_version(stored_raw(draft), raw):
        written = replace(written, message_id=draft.message_id)
        raw = to_bytes(written)
    if len(raw) > LARGEST:
        size, most = f"{len(raw) / 2**20:.1f}", LARGEST >> 20
        words = f"The message is {size} MiB with its files; the limit is {most} MiB."
        raise FieldError("", TapestryError(words, hint="Remove a file, or send it in parts."))
    return Sealed(written.message_id, raw, _envelope(everybody), source)


def stored_raw(row: OutgoingMessage) -> bytes:
    """Return a letter as it was sealed before; empty if there is none, or it was deleted."""
    stored = OutgoingMessage.objects.filter(pk=row.pk).values_list("raw", flat=True)
    return bytes(stored.first() or b"")


def attached_name(draft: OutgoingMessage) -> str:
    """Return the name of the file that a forwarded message is attached as."""
    name = re.sub(r"^Fwd: ", "", draft.subject).strip()
    return f"{name[:80] or 'message'}.eml"


def news_source(owner: User, groups: tuple[str, ...]) -> Source:
    """Return the news server that a letter is posted to: the first that has the groups.

    Raise TapestryError if the person has no such source.
    """
    sources = Source.objects.filter(owner=owner, kind=Source.Kind.NNTP).order_by("-active", "pk")
    for source in sources:
        if all(matches(source.folder_patterns, group) for group in groups):
            return source
    named = ", ".join(groups)
    raise TapestryError(
        f"None of your sources is a news server with {named}.",
        hint="Add one under Sources, or take the newsgroups out.",
    )


def _newsgroups(text: str) -> tuple[str, ...]:
    names = [name for name in re.split(r"[\s,;]+", text.lower()) if name]
    return tuple(dict.fromkeys(newsgroup(name) for name in names))


def _parent(draft: OutgoingMessage) -> Parent | None:
    """Return the message that a draft answers; None if it is none, or is gone by now."""
    if not draft.parent:
        return None
    return find_parent(draft.owner, draft.parent, draft.parent_audience or None)


def _envelope(recipients: tuple[Recipient, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ascii_address(recipient.address) for recipient in recipients))


def _check(field: str, read: Callable[[], Checked]) -> Checked:
    try:
        return read()
    except FieldError:
        raise
    except TapestryError as error:
        raise FieldError(field, error) from error
