"""A letter of the sample, and its bytes as they would have come over the wire."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, formataddr

from filters.sample.cast import DOMAIN, Person
from tapestry.core.clock import to_datetime
from tapestry.core.message import PUBLIC


@dataclass(frozen=True, slots=True)
class Letter:
    """One message before it is sent; ``date`` is an instant, ``to`` are names and addresses."""

    msgid: str
    date: int
    author: Person
    subject: str
    body: str
    to: tuple[tuple[str, str], ...] = ()
    newsgroups: tuple[str, ...] = ()
    list_name: str | None = None
    references: tuple[str, ...] = ()
    attachment: tuple[str, str] | None = None
    audience: str = PUBLIC


def to_bytes(letter: Letter) -> bytes:
    """Return a letter as RFC 5322 bytes with LF line ends, as an mbox holds them."""
    message: Message = MIMEText(letter.body)
    if letter.attachment is not None:
        name, text = letter.attachment
        table = MIMEText(text, "csv")
        table.add_header("Content-Disposition", "attachment", filename=name)
        message = MIMEMultipart("mixed", f"={letter.msgid.partition('@')[0]}=", [message, table])
    message["From"] = formataddr((letter.author.name, letter.author.address))
    message["Date"] = format_datetime(to_datetime(letter.date).replace(microsecond=0))
    message["Message-ID"] = f"<{letter.msgid}>"
    message["Subject"] = letter.subject
    if letter.to:
        message["To"] = ", ".join(map(formataddr, letter.to))
    if letter.newsgroups:
        message["Newsgroups"] = ",".join(letter.newsgroups)
    if letter.list_name:
        message["List-Id"] = f"<{letter.list_name}.{DOMAIN}>"
    if letter.references:
        message["In-Reply-To"] = f"<{letter.references[-1]}>"
        message["References"] = "\n ".join(f"<{msgid}>" for msgid in letter.references)
    return message.as_bytes()


def to_mbox(letter: Letter) -> bytes:
    """Return a letter as an entry of an mbox: its From line, and From in the text quoted."""
    moment = to_datetime(letter.date)
    lines = to_bytes(letter).splitlines(keepends=True)
    quoted = (b">" + line if line.lstrip(b">").startswith(b"From ") else line for line in lines)
    start = f"From {letter.author.address} {moment:%a %b %d %H:%M:%S %Y}\n"
    return start.encode() + b"".join(quoted) + b"\n"
