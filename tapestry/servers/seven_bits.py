"""Mail of 8-bit characters for a server that takes 7 bits only (RFC 6152, section 3)."""

from __future__ import annotations

import re
from email import message_from_bytes
from email.encoders import encode_base64
from email.generator import BytesGenerator
from email.message import Message
from email.policy import compat32
from io import BytesIO

_SIGNATURES = ("dkim-signature", "arc-message-signature", "domainkey-signature")
"""Headers that sign the bytes of a body: it is not written otherwise."""

_POLICY = compat32.clone(linesep="\r\n", max_line_length=0)
_NESTING = re.compile(rb"boundary|message/", re.IGNORECASE)
_MOST_NESTING = 100


def in_seven_bits(raw: bytes) -> bytes | None:
    r"""Return a message with those parts in base64 that have 8-bit characters, lines in CRLF.

    None if that is not safe: something in it is signed, its headers have such characters too, or
    it cannot be read as MIME without doubt.

    >>> in_seven_bits(b"MIME-Version: 1.0\n\n\xc3\xa9\n")
    b'MIME-Version: 1.0\r\nContent-Transfer-Encoding: base64\r\n\r\nw6kK\r\n'
    >>> in_seven_bits(b"MIME-Version: 1.0\nSubject: \xe9\n\n")
    """
    if len(_NESTING.findall(raw)) > _MOST_NESTING:
        return None
    message = message_from_bytes(raw, policy=_POLICY)
    if "MIME-Version" not in message or not all(_written(part) for part in message.walk()):
        return None
    out = BytesIO()
    BytesGenerator(out, mangle_from_=False, policy=_POLICY).flatten(message)
    return out.getvalue() if out.getvalue().isascii() else None


def _written(part: Message) -> bool:
    """Write a part for 7 bits; return False if that is not safe."""
    is_signed = part.get_content_type() == "multipart/signed" or any(
        name in part for name in _SIGNATURES
    )
    encoding = str(part.get("Content-Transfer-Encoding", "7bit")).strip().lower()
    if is_signed or part.defects:
        return False
    payload = part.get_payload()
    if part.is_multipart():
        if encoding in ("8bit", "binary"):
            part.replace_header("Content-Transfer-Encoding", "7bit")
        return True
    if not isinstance(payload, str) or payload.isascii():
        return True
    if encoding not in ("7bit", "8bit", "binary"):
        return False
    del part["Content-Transfer-Encoding"]
    encode_base64(part)
    return True
