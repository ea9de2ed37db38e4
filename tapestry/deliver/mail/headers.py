"""The headers of mail that Tapestry sends, written so that no value can add another header.

They are encoded and folded here, in ASCII, because the folding of ``email.policy`` takes
milliseconds for each message.  Line ends inside a value are LF and a space.
"""

from __future__ import annotations

import re
from email.header import Header
from email.utils import format_datetime

from tapestry.core.errors import TapestryError
from tapestry.deliver.mail.envelope import DELIVERY_HEADER, Envelope
from tapestry.deliver.one_line import one_line

Headers = list[tuple[str, str]]

WIDTH = 76
"""Columns of a line; a word that is longer stays whole."""

LONGEST_TOKEN = 900
"""Characters of an address or key: a line with its name stays below 998 (RFC 5322, 2.1.1)."""

_TOKEN = re.compile(r"[!-~]+")
_ADDRESS = re.compile(r"[^\s<>()\[\]\\,;:\"@]+@[^\s<>()\[\]\\,;:\"@]+")


def text_value(name: str, text: str) -> str:
    r"""Return the value of a header of free text, in encoded words where it needs them (RFC 2047).

    >>> text_value("Subject", "3 new in lunch")
    '3 new in lunch'
    >>> text_value("Subject", "café =?utf-8?q?x?=\nBcc: all@x.org")
    '=?utf-8?b?Y2Fmw6kgPT91dGYtOD9xP3g/PSBCY2M6IGFsbEB4Lm9yZw==?='
    """
    text = one_line(text)
    if text.isascii() and "=?" not in text:
        return _folded(text.split(" "), len(name) + 2)
    return _encoded(text, name)


def mailbox_value(name: str, display: str, address: str) -> str:
    """Return the value of a header that names one person: ``display <address>``.

    >>> mailbox_value("To", "Jones, Terry", "terry@x.org")
    '"Jones, Terry" <terry@x.org>'
    """
    display = one_line(display, 80)
    mailbox = f"<{ascii_address(address)}>"
    if not display:
        return mailbox.strip("<>")
    if display.isascii() and "=?" not in display:
        if not display.replace(" ", "").isalnum():
            escaped = display.replace("\\", "\\\\").replace('"', '\\"')
            display = f'"{escaped}"'
    else:
        display = _encoded(display, name)
    last = len(display) - display.rfind("\n")
    apart = " " if last + len(name) + len(mailbox) < WIDTH else "\n "
    return display + apart + mailbox


def ascii_address(address: str) -> str:
    """Return an address as SMTP without SMTPUTF8 takes it: the domain in IDNA, the rest ASCII.

    >>> ascii_address("info@bücher.example")
    'info@xn--bcher-kva.example'

    Raise TapestryError if it is none.
    """
    local, _, domain = address.strip().rpartition("@")
    try:
        written = f"{local}@{domain.encode('idna').decode('ascii')}"
    except UnicodeError:
        written = ""
    if len(written) > 254 or not written.isascii() or not written.isprintable():
        written = ""
    if not _ADDRESS.fullmatch(written):
        raise TapestryError(
            f"“{one_line(address)}” is not a valid mail address.",
            hint="Write one such as terry@example.com, with plain letters before the @.",
        )
    return written


def token(value: str) -> str:
    """Return a key, identifier or URL for a header; raise TapestryError if it is not one word."""
    if len(value) > LONGEST_TOKEN or not _TOKEN.fullmatch(value) or "<" in value or ">" in value:
        raise TapestryError(
            f"“{one_line(value)}” cannot stand in a header of mail.",
            hint="Keys, identifiers and addresses there are one word of ASCII.",
        )
    return value


def angle(value: str) -> str:
    """Return a Message-ID, list identifier or URL in angle brackets, whether it has them or not."""
    return f"<{token(value.removeprefix('<').removesuffix('>'))}>"


def date_value(envelope: Envelope) -> str:
    """Return the Date of a message: the envelope's ``now`` in its reader's zone."""
    return format_datetime(envelope.local(envelope.now))


def delivery_headers(envelope: Envelope, key: str, subject: str) -> Headers:
    """Return the headers of a message that Tapestry wrote, without those of MIME.

    ``List-Unsubscribe-Post`` offers to stop the mail with one click (RFC 8058).  Nothing answers
    by itself to what is ``Auto-Submitted`` (RFC 3834); Exchange asks for a header of its own.
    """
    return [
        ("From", mailbox_value("From", envelope.site_name, envelope.from_address)),
        ("To", mailbox_value("To", envelope.to_name, envelope.to_address)),
        ("Subject", text_value("Subject", subject)),
        ("Date", date_value(envelope)),
        ("Message-ID", angle(envelope.message_id)),
        ("List-Id", angle(envelope.list_id)),
        ("List-Unsubscribe", angle(envelope.unsubscribe_url)),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
        ("Auto-Submitted", "auto-generated"),
        ("X-Auto-Response-Suppress", "All"),
        (DELIVERY_HEADER, envelope.signer.value(token(key))),
        ("MIME-Version", "1.0"),
    ]


def to_bytes(headers: Headers, line_end: bytes = b"\r\n") -> bytes:
    """Return headers as they stand at the head of a message."""
    text = "".join(f"{name}: {value}\n" for name, value in headers)
    return text.encode("ascii").replace(b"\n", line_end)


def _encoded(text: str, name: str) -> str:
    return Header(text, "utf-8", maxlinelen=WIDTH, header_name=name).encode()


def _folded(words: list[str], used: int) -> str:
    lines, line = [], words[0]
    for word in words[1:]:
        if used + len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, used = word, 1
        else:
            line = f"{line} {word}"
    return "\n ".join([*lines, line])
