"""Messages as an mbox (RFC 4155, with lines that begin with From quoted: mboxrd)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.header import Header
from email.message import Message as MailMessage
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime
from itertools import groupby

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
        "X-Tapestry-Original": "not kept",
    }
    return composed(fields, message.body or "")


def composed(
    fields: Mapping[str, str], text: str, files: Sequence[tuple[str, bytes]] = ()
) -> bytes:
    """Return the bytes of a message; a field without a value is left out."""
    made: MailMessage = MIMEText(text, "plain", "utf-8")
    if files:
        made = MIMEMultipart("mixed", None, [made])
    for name, value in fields.items():
        if value.strip():
            made[name] = field(name, value).partition(": ")[2]
    for name, content in files:
        part = MIMEApplication(bytes(content))
        part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
        made.attach(part)
    return made.as_bytes()


def field(name: str, value: str) -> str:
    r"""Return a header field without line ends but its own; words beyond ASCII are encoded.

    >>> field("Bcc", "joe@x.org\nSubject: no"), field("To", "Zoë <zoe@x.org>")
    ('Bcc: joe@x.org Subject: no', 'To: =?utf-8?q?Zo=C3=AB?= <zoe@x.org>')
    """
    header = Header()
    for is_ascii, words in groupby(value.split(), str.isascii):
        header.append(" ".join(words), None if is_ascii else "utf-8")
    return f"{name}: {header.encode()}"


def _moment(instant: int | None) -> datetime:
    try:
        return to_datetime(instant or 0).astimezone(UTC)
    except (OverflowError, ValueError):
        return to_datetime(0).astimezone(UTC)
