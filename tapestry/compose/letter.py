"""A letter to its bytes, as they are sent, stored and filed: the same wherever they go.

    Letter ─ headers (tapestry.deliver.mail.headers) ─ text, HTML, files (EmailMessage) ─> bytes

Bcc is no header of these bytes: who got a blind copy is for the envelope of SMTP alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime

from tapestry.compose.flowed import flowed
from tapestry.compose.recipients import Recipient
from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.headers import Headers, angle, mailbox_value, text_value, token
from tapestry.deliver.mail.mime_parts import ALTERNATIVE, WIRE, crlf, is_binary
from tapestry.deliver.one_line import one_line

LONGEST_TEXT = 200_000
"""Characters of the text of a letter."""

NOBODY = "undisclosed-recipients:;"
"""The header To of a letter of which everybody gets a blind copy (RFC 5322, appendix A.1.3)."""

_LONGEST_LINE = 78
_TYPE = re.compile(r"([a-z]+)/([a-z0-9][a-z0-9.+-]{0,80})", re.IGNORECASE)
_KINDS = ("application", "audio", "font", "image", "model", "text", "video")
_GROUP = re.compile(r"[a-z0-9][a-z0-9+_.-]{0,200}")
_PATH = re.compile(r'[\\/:*?"<>|]+')


@dataclass(frozen=True, slots=True)
class File:
    """A file that is attached; a message as it came is of the type ``message/rfc822``."""

    name: str
    content: bytes
    content_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Letter:
    """A person's own message.  Message-IDs have no angle brackets; ``date`` has a zone.

    ``html`` is the text as a document, sent beside it; none if it is empty.
    """

    sender: Recipient
    message_id: str
    date: datetime
    subject: str
    text: str
    to: tuple[Recipient, ...] = ()
    cc: tuple[Recipient, ...] = ()
    newsgroups: tuple[str, ...] = ()
    in_reply_to: str | None = None
    references: tuple[str, ...] = ()
    files: Sequence[File] = ()
    html: str = ""


def to_bytes(letter: Letter) -> bytes:
    """Return the bytes of a letter, lines in CRLF.

    Raise TapestryError, in words, if something in it cannot be sent.
    """
    message = EmailMessage(WIRE)
    for name, value in _headers(letter):
        message.set_raw(name, value)
    text = flowed(letter.text)
    short = text.isascii() and all(len(line) <= _LONGEST_LINE for line in text.splitlines())
    encoding = "7bit" if short and not letter.html else "quoted-printable"
    message.set_content(text, charset="utf-8", cte=encoding, params={"format": "flowed"})
    if letter.html:
        message.make_alternative(boundary=ALTERNATIVE)
        html = EmailMessage(WIRE)
        html.set_content(letter.html, "html", charset="utf-8", cte="quoted-printable")
        message.attach(html)
    if letter.files:
        message.make_mixed()
    for file in letter.files:
        message.attach(_attachment(file))
    return crlf(message.as_bytes())


def _headers(letter: Letter) -> Headers:
    date = format_datetime(letter.date)
    headers = [("From", mailbox_value("From", letter.sender.name, letter.sender.address))]
    if letter.newsgroups:
        headers.append(("Newsgroups", ",".join(map(newsgroup, letter.newsgroups))))
    for name, recipients in (("To", letter.to), ("Cc", letter.cc)):
        if recipients:
            values = (mailbox_value(name, to.name, to.address) for to in recipients)
            headers.append((name, ",\n ".join(values)))
    if not (letter.to or letter.cc or letter.newsgroups):
        headers.append(("To", NOBODY))
    headers.append(("Subject", text_value("Subject", one_line(letter.subject, 500))))
    headers += [("Date", date), ("Message-ID", angle(letter.message_id))]
    if letter.in_reply_to:
        headers.append(("In-Reply-To", angle(letter.in_reply_to)))
    if letter.references:
        headers.append(("References", "\n ".join(map(angle, letter.references))))
    return headers


def newsgroup(name: str) -> str:
    """Return the name of a newsgroup; raise TapestryError if it is none (RFC 5536, 3.1.4).

    >>> newsgroup("comp.databases")
    'comp.databases'
    """
    if not _GROUP.fullmatch(name) or name == "poster":
        raise TapestryError(
            f"“{one_line(name, 80)}” is not the name of a newsgroup.",
            hint="Write names such as comp.databases, with commas between them.",
        )
    return token(name)


def file_name(name: str) -> str:
    r"""Return the name of a file as it may be sent: without a path.

    >>> file_name("C:\\fakepath\\plan\r\n.pdf"), file_name("../../etc/passwd")
    ('plan .pdf', 'passwd')
    """
    base = re.split(r"[\\/]", one_line(name, 1000).replace("\0", ""))[-1]
    return one_line(_PATH.sub("-", base), 120).strip(". ") or "file"


def _attachment(file: File) -> EmailMessage:
    part = EmailMessage(WIRE)
    found = _TYPE.fullmatch(file.content_type)
    kind, subtype = "application", "octet-stream"
    if found and found[1].lower() in _KINDS:
        kind, subtype = found[1].lower(), found[2].lower()
    is_message = file.content_type == "message/rfc822"
    if is_message and file.content.isascii() and not is_binary(file.content):
        part.set_raw("Content-Type", "message/rfc822")
        part.set_raw("Content-Transfer-Encoding", "7bit")
        part.add_header("Content-Disposition", "attachment", filename=file_name(file.name))
        part.set_payload(file.content.decode("ascii", "surrogateescape"))
        return part
    name = file_name(file.name)
    part.set_content(file.content, kind, subtype, cte="base64", filename=name)
    return part
