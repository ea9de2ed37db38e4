"""The content of a part as it was before it was encoded for transport (RFC 2045, section 6)."""

from __future__ import annotations

from binascii import Error, a2b_base64
from email.message import Message as Part

from tapestry.mime.problems import in_words

_PLAIN = ("", "7bit", "8bit", "binary")


def is_encoded(encoding: str) -> bool:
    """Return whether a Content-Transfer-Encoding changes what is sent."""
    return encoding not in _PLAIN


def undo(data: bytes, encoding: str) -> tuple[bytes, list[str]]:
    """Return decoded bytes, and in words what is wrong; what cannot be decoded is left out.

    >>> undo(b"SGVs!bG8", "base64")
    (b'Hello', ['wrong characters in encoded text', 'encoded text without its end'])
    """
    if not is_encoded(encoding):
        return data, []
    if encoding == "base64":
        try:
            return a2b_base64(data.translate(None, b"\r\n"), strict_mode=True), []
        except Error:
            pass  # the standard parser reads what there is
    part = Part()
    part["Content-Transfer-Encoding"] = encoding
    part.set_payload(data.decode("ascii", "surrogateescape"))
    decoded = part.get_payload(decode=True)
    return (decoded if isinstance(decoded, bytes) else b""), in_words(part.defects)
