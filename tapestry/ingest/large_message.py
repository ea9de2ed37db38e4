"""The bytes of a message as they come: of one that is too large only the beginning is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tapestry.core.message import LARGEST

BEGINNING = 8 * 1024 * 1024
"""Bytes that are read of a message with more than LARGEST."""


@dataclass(frozen=True, slots=True)
class RawMessage:
    """The bytes of a message (RFC 5322), and what its source says of it.

    ``size`` is that of a message too large, of which ``raw`` is the beginning.  ``internal_date``
    is when an IMAP server received it.  One that was ``delivered`` has the keyword of what Tapestry
    itself put into a mailbox.  ``flags`` are those that copies of it keep
    (tapestry.servers.imap_flags).  ``number`` is what its stream calls it.
    """

    raw: bytes
    size: int | None = None
    internal_date: int | None = None
    delivered: bool = False
    flags: tuple[str, ...] = ()
    number: int | None = None


class MessageBytes:
    """A file to write a message to, in memory that does not grow with a message too large.

    >>> file = MessageBytes()
    >>> file.write(b"Subject: x")
    10
    >>> file.raw, file.size
    (b'Subject: x', None)
    """

    def __init__(self) -> None:
        self._kept = bytearray()
        self.length = 0

    def write(self, data: bytes | memoryview) -> int:
        """Append bytes."""
        self.length += len(data)
        if self.length <= LARGEST:
            self._kept += data
        else:
            self._kept += data[: max(0, BEGINNING - len(self._kept))]
            del self._kept[BEGINNING:]
        return len(data)

    def read_from(self, stream: Any) -> MessageBytes:
        """Append what a stream holds up to its end."""
        while piece := stream.read(1024 * 1024):
            self.write(piece)
        return self

    @property
    def raw(self) -> bytes:
        """The bytes of the message, or its beginning."""
        return bytes(self._kept)

    @property
    def size(self) -> int | None:
        """Return the number of bytes of the message if ``raw`` is its beginning, else None."""
        return self.length if self.length > LARGEST else None
