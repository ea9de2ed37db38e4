"""What a person writes, as Emails: drafts, and what they have sent of late (filters.compose).

draft ─ sent off ─> pending ─> sent     its Email moves from Drafts to Sent
  └─ changed, or deleted ─> its Email is gone, and the changed one is another: RFC 8621, 4
"""

from __future__ import annotations

from contextlib import suppress

from django.db.models import Count, Max, Q, QuerySet, Sum

from filters.compose.drafting.contacts import recipients
from filters.compose.drafting.formatting import html_part
from filters.compose.drafting.letters import attached_name
from filters.compose.drafting.parents import find_parent, original_of, referred
from filters.compose.models import OutgoingMessage
from filters.delivery.mail.outgoing import site_host
from filters.people.models import User
from tapestry.compose.letter import File, Letter, to_bytes
from tapestry.compose.recipients import Recipient
from tapestry.core.clock import to_datetime, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.headers import mailbox_value
from tapestry.deliver.mail.mime_parts import crlf
from tapestry.deliver.mail.recipient_address import recipient_address

DRAFTS, SENT = "drafts", "sent"
"""The mailboxes of letters, which are their roles, too (RFC 8621, 2)."""

PENDING, FINAL = "pending", "final"
"""Whether sending can be undone (RFC 8621, 7)."""

State = OutgoingMessage.State

_NOBODY = "nobody@invalid"


def letters_of(owner: User) -> QuerySet[OutgoingMessage]:
    """Return what a person writes, and has sent: without what is not needed to list it."""
    rows = OutgoingMessage.objects.filter(owner=owner).order_by("pk")
    listed = ("uid", "version", "state", "parent", "is_forward", "changed_at", "due_at", "holder")
    return rows.only(*listed, "sent_at", "posted_at")


def mark_of_letters(owner: User) -> str:
    """Return a text that changes whenever a letter does, or how sending it stands."""
    rows, now = OutgoingMessage.objects.filter(owner=owner).order_by(), wall_clock()
    states = {state.value: Count("pk", filter=Q(state=state)) for state in State}
    taken = ~Q(holder="") | Q(due_at__lte=now)
    counted = rows.aggregate(
        Max("pk"), Sum("version"), Max("changed_at"), taken=Count("pk", filter=taken), **states
    )
    return repr(counted)


def box_of(letter: OutgoingMessage) -> str:
    """Return the mailbox of a letter; what was refused can be sent again, as a draft can."""
    return SENT if letter.state in (State.QUEUED, State.SENT) else DRAFTS


def undo_status(letter: OutgoingMessage) -> str:
    """Return whether sending a letter can be undone; empty if it is not sent off."""
    if letter.state == State.DRAFT:
        return ""
    is_due = letter.due_at is None or letter.due_at <= wall_clock() or letter.holder
    return FINAL if is_due or letter.sent_at or letter.posted_at else PENDING


def raw_of(letter: OutgoingMessage) -> bytes:
    """Return the bytes of a letter: as it is sent, or as it would be now, with Bcc if a draft."""
    if letter.is_draft:
        return _draft(letter)
    if letter.raw:
        return bytes(letter.raw)
    audience = f"user:{letter.owner.get_username()}"
    stored = find_parent(letter.owner, letter.message_id, audience)
    return (stored and stored.raw) or b""


def addressees(letter: OutgoingMessage, field: str) -> tuple[Recipient, ...]:
    """Return whom a field of a draft names; nobody where that is not finished yet."""
    with suppress(TapestryError):
        return recipients(letter.owner, getattr(letter, field))
    return ()


def _draft(letter: OutgoingMessage) -> bytes:
    owner = letter.owner
    rows = letter.attachments.all()
    files = [File(row.name, bytes(row.content), row.content_type) for row in rows]
    with suppress(TapestryError):
        if letter.attach_parent:
            raw = original_of(owner, letter)
            files.append(File(attached_name(letter), raw, "message/rfc822"))
    parent = find_parent(owner, letter.parent, letter.parent_audience) if letter.parent else None
    replied, references = referred(parent, is_forward=letter.is_forward)
    raw = to_bytes(
        Letter(
            _sender(letter),
            f"{letter.uid.hex}.{letter.version}@{site_host()}",
            to_datetime(letter.changed_at).astimezone(owner.zone),
            letter.subject,
            letter.body,
            addressees(letter, "to"),
            addressees(letter, "cc"),
            (),
            replied,
            references,
            files,
            html_part(letter.body) if letter.formatted and letter.body.strip() else "",
        )
    )
    blind = addressees(letter, "bcc")
    values = ",\n ".join(mailbox_value("Bcc", to.name, to.address) for to in blind)
    raw = crlf(f"Bcc: {values}\n".encode()) * bool(blind) + raw
    return raw.replace(f"From: {_NOBODY}\r\n".encode(), b"", 1)


def _sender(letter: OutgoingMessage) -> Recipient:
    owner = letter.owner
    with suppress(TapestryError):
        recipient_address(letter.sender)
        return Recipient(letter.sender, owner.get_full_name() or owner.get_username())
    return Recipient(_NOBODY)
