"""The bytes of a message as they come: of one that is too large only the beginning is kept."""

from __future__ import annotations

from typing import Any

from tapestry.core.message import LARGEST

BEGINNING = 8 * 1024 * 1024
"""Bytes that are read of a message with more than LARGEST."""


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
