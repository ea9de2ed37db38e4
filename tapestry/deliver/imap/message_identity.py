"""The identity of a message on a server: its Message-ID, or its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from tapestry.deliver.mail.mime_parts import crlf

_END = re.compile(rb"\n\r?\n|\A\r?\n")
_FIELD = re.compile(rb"(?:\A|\n)message-id[ \t]*:((?:[^\n]|\n[ \t])*)", re.IGNORECASE)
_USABLE = re.compile(rb"<[\x21-\x7e]{1,900}>")


@dataclass(frozen=True, slots=True)
class MessageIdentity:
    """Properties that are the same in all copies of a message.

    ``message_id`` has angle brackets; it is empty if the message has none that can be searched
    for.  Then ``size`` and ``digest`` (SHA-256) are those of its bytes with CRLF line ends.
    """

    message_id: bytes = b""
    size: int = 0
    digest: bytes = b""

    @classmethod
    def of(cls, raw: bytes) -> MessageIdentity:
        r"""Return the identity of a message.

        >>> MessageIdentity.of(b"Message-ID: <a@x.org>\n\nHello").message_id
        b'<a@x.org>'
        >>> MessageIdentity.of(b"Subject: lunch\n\nHello").size
        23
        """
        message_id = message_id_field(raw)
        if _USABLE.fullmatch(message_id):
            return cls(message_id)
        return cls.of_bytes(raw)

    @classmethod
    def of_bytes(cls, raw: bytes) -> MessageIdentity:
        r"""Return the identity of a message whose Message-ID another message has.

        >>> MessageIdentity.of_bytes(b"Message-ID: <a@x.org>\n\nHello").message_id
        b''
        """
        canonical = crlf(raw)
        return cls(b"", len(canonical), sha256(canonical).digest())

    @classmethod
    def of_msgid(cls, msgid: str) -> MessageIdentity | None:
        """Return the identity by a Message-ID alone, None if it cannot be searched for."""
        message_id = f"<{msgid}>".encode()
        return cls(message_id) if _USABLE.fullmatch(message_id) else None


def message_id_field(raw: bytes) -> bytes:
    r"""Return the value of the first Message-ID field of a header section, unfolded.

    >>> message_id_field(b"Subject: lunch\r\nMessage-Id:\r\n <a@x.org>\r\n\r\nMessage-ID: <b>")
    b'<a@x.org>'
    """
    end = _END.search(raw)
    field = _FIELD.search(raw, 0, end.start() if end else len(raw))
    return b" ".join(field[1].split()) if field else b""
