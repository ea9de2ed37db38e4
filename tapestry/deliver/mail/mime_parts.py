"""Parts of MIME, written without the generic and slow ways of the email package."""

from __future__ import annotations

import re
from binascii import b2a_qp
from email import policy
from email.message import EmailMessage, MIMEPart
from email.policy import Policy
from typing import Any

from tapestry.deliver.mail.headers import Headers

_LINE_END = re.compile(rb"\r\n|\r|\n")
_LONG_LINE = re.compile(rb"[^\r\n]{999}")

ALTERNATIVE = "=_alternative"
"""The boundary of parts in quoted-printable, in which no line can be one."""

WIRE = policy.SMTP.clone(refold_source="none")
"""Headers are sent as tapestry.deliver.mail.headers folded them; lines end in CRLF."""


def text_headers(subtype: str) -> Headers:
    """Return the headers of a part that ``quoted_printable`` has encoded."""
    return [
        ("Content-Type", f'text/{subtype}; charset="utf-8"'),
        ("Content-Transfer-Encoding", "quoted-printable"),
    ]


def quoted_printable(text: str) -> str:
    r"""Return text in the quoted-printable encoding of its UTF-8 (RFC 2045, 6.7), lines in LF.

    No line in it can be a boundary that has ``=_`` in it.

    >>> quoted_printable("café =_x\n")
    'caf=C3=A9 =3D_x\n'
    """
    return b2a_qp(text.encode("utf-8"), istext=True).decode("ascii")


class WireMessage(EmailMessage):
    """A message or part of folded headers and encoded text, which only have to be joined."""

    def __init__(self, headers: Headers) -> None:
        super().__init__(WIRE)
        for name, value in headers:
            self.set_raw(name, value)

    def as_bytes(self, unixfrom: bool = False, policy: Policy[Any] | None = None) -> bytes:
        """Return the bytes that the email package's generator would, in less time."""
        if unixfrom or policy is not None:
            return super().as_bytes(unixfrom, policy)
        return _joined(self).replace("\n", "\r\n").encode("ascii")


def _joined(part: MIMEPart) -> str:
    """Return headers and what follows them, lines in LF."""
    head = "".join(f"{name}: {value}\n" for name, value in part.raw_items()) + "\n"
    if not part.is_multipart():
        return head + str(part.get_payload())
    inner = "".join(f"--{ALTERNATIVE}\n{_joined(child)}\n" for child in part.iter_parts())
    return f"{head}{inner}--{ALTERNATIVE}--\n"


def alternative(headers: Headers, plain: str, html: str) -> WireMessage:
    """Return a message of a text and the same in HTML, for programs to choose (RFC 2046, 5.1.4)."""
    kind = ("Content-Type", f'multipart/alternative; boundary="{ALTERNATIVE}"')
    message = WireMessage([*headers, kind])
    for subtype, text in (("plain", plain), ("html", html)):
        part = WireMessage(text_headers(subtype))
        part.set_payload(quoted_printable(text))
        message.attach(part)
    return message


def crlf(data: bytes) -> bytes:
    r"""Return bytes whose lines all end in CRLF, as SMTP and IMAP demand (RFC 5321, 2.3.8).

    >>> crlf(b"Subject: lunch\n\nNoon?\r\n")
    b'Subject: lunch\r\n\r\nNoon?\r\n'
    """
    return _LINE_END.sub(b"\r\n", data)


def is_binary(raw: bytes) -> bool:
    """Tell whether a message has what SMTP does not take: a NUL, or a line of over 998 bytes.

    Nothing encodes it where it is attached as a message (RFC 2046, 5.2.1).
    """
    return b"\0" in raw or _LONG_LINE.search(raw) is not None
