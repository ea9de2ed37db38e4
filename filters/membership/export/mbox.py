"""Messages as an mbox (RFC 4155, with lines that begin with From quoted: mboxrd)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.header import Header
from email.message import Message as MailMessage
from email.utils import format_datetime

from tapestry.core.clock import to_datetime
from tapestry.core.message import Message

_FROM = re.compile(rb"^(>*From )", re.MULTILINE)


def entry(raw: bytes, instant: int | None) -> bytes:
    r"""Return a message as an entry of an mbox.

    >>> entry(b"Subject: x\r\n\r\nFrom here\r\n", 0)
    b'From tapestry Thu Jan  1 00:00:00 1970\nSubject: x\n\n>From here\n\n'
    """
    plain = raw.replace(b"\r\n", b"\n").rstrip(b"\n")
    line = f"From tapestry {_moment(instant).ctime()}\n".encode()
    return line + _FROM.sub(rb">\1", plain) + b"\n\n"


def rebuilt(message: Message) -> bytes:
    """Return a message whose original was not kept, as far as it is known."""
    made = MailMessage()
    fields = {
        "Message-ID": f"<{message.msgid}>",
        "Date": format_datetime(_moment(message.date)) if message.date is not None else "",
        "From": f"{message.sender_name or ''} <{message.sender or ''}>".strip(),
        "To": ", ".join(message.to),
        "Cc": ", ".join(message.cc),
        "Newsgroups": ",".join(message.newsgroups),
        "Subject": message.subject or "",
        "In-Reply-To": f"<{message.inreplyto}>" if message.inreplyto else "",
        "References": " ".join(f"<{reference}>" for reference in message.references),
    }
    for name, value in fields.items():
        if plain := " ".join(value.split()):
            made[name] = Header(plain, None if plain.isascii() else "utf-8").encode()
    made["X-Tapestry-Original"] = "not kept"
    made.set_payload(message.body or "", "utf-8")
    return made.as_bytes()


def _moment(instant: int | None) -> datetime:
    try:
        return to_datetime(instant or 0).astimezone(UTC)
    except (OverflowError, ValueError):
        return to_datetime(0).astimezone(UTC)
