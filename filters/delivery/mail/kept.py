"""Mail of a site without a mail server: kept for a page, where its reader finds it."""

from __future__ import annotations

from collections.abc import Sequence
from email import policy
from email.parser import BytesHeaderParser

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from filters.delivery.mail.outgoing import WrittenMail
from filters.delivery.mail.signed import owner_of
from filters.delivery.models import KeptMail
from filters.people import people
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tapestry.deliver.one_line import one_line


class KeptMailBackend(BaseEmailBackend):
    """A mail backend of Django that sends nothing: it keeps mail for the page of its reader."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Keep messages to people of this site, and return how many those were."""
        kept = 0
        for message in email_messages:
            if isinstance(message, WrittenMail):
                raw, owner = message.raw, message.owner
            else:
                raw, owner = message.message().as_bytes(), None
            kept += any(keep(raw, recipient, owner) for recipient in message.recipients())
        return kept


def keep(raw: bytes, recipient: str, owner: User | None = None) -> bool:
    """Keep a message for its owner, once for each Message-ID.

    The owner is the person of the delivery that this site signed, for several may have given the
    same address.  Return False if there is none, or if the address is none of theirs.
    """
    if owner is None:
        owner = owner_of(raw)
        if owner is None or not owner.mail_addresses.filter(email__iexact=recipient).exists():
            return False
    headers = BytesHeaderParser(policy=policy.compat32).parsebytes(raw)
    name = headers.get("Resent-Message-ID") or headers.get("Message-ID") or ""
    subject = BytesHeaderParser(policy=policy.default).parsebytes(raw).get("Subject", "")
    KeptMail.objects.get_or_create(
        owner=owner,
        message_id=str(name).strip(),
        defaults={
            "recipient": recipient,
            "subject": one_line(str(subject), 300),
            "raw": raw,
            "at": wall_clock(),
            "audiences": "\n".join(["", *people.audiences(owner), ""]),
        },
    )
    return True
