"""What a person wrote on the pages: drafts, and the messages of the outbox, each as a message."""

from __future__ import annotations

from collections.abc import Iterator

from filters.compose.models import OutgoingMessage
from filters.people.membership.export.mbox import composed, entry, field
from filters.people.membership.export.profile import moment
from filters.people.models import User


def written_entries(user: User) -> Iterator[bytes]:
    """Yield what a person wrote as entries of an mbox, the oldest change first; one at a time."""
    rows = OutgoingMessage.objects.filter(owner=user)
    for key in list(rows.order_by("changed_at", "pk").values_list("pk", flat=True)):
        row = rows.filter(pk=key).first()
        if row is not None:
            yield entry(_message(row), row.changed_at)


def _message(row: OutgoingMessage) -> bytes:
    """Return the bytes of a message as it is sent, or a draft as far as it was typed.

    Blind copies are in no message that is sent; here they are, for this is the writer's own.
    """
    own = {
        "X-Tapestry-State": row.get_state_display(),
        "X-Tapestry-Send-At": moment(row.send_at) or "",
        "X-Tapestry-Remind-At": moment(row.remind_at) or "",
        "Bcc": row.bcc,
    }
    if row.raw:
        lines = (field(name, value) for name, value in own.items() if value)
        return "".join(f"{line}\r\n" for line in lines).encode() + bytes(row.raw)
    fields = {
        **own,
        "Message-ID": f"<{row.message_id}>" if row.message_id else "",
        "From": row.sender,
        "To": row.to,
        "Cc": row.cc,
        "Newsgroups": row.newsgroups,
        "Subject": row.subject,
        "In-Reply-To": f"<{row.parent}>" if row.parent and not row.is_forward else "",
    }
    return composed(
        fields, row.body, [(file.name, bytes(file.content)) for file in row.attachments.all()]
    )
