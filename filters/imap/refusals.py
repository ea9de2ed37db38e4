"""What a mail program is told when it asks for what is not to be had here."""

from __future__ import annotations

from pymap.exceptions import NotSupportedError, ResponseError
from pymap.parsing.response import ResponseBye, ResponseCode, ResponseNo

CANNOT_PUT = "Filters fill these mailboxes: nothing can be put, moved or renamed here."
CANNOT_DELETE = "Nothing is deleted here: mark the message done in Tapestry."


class CannotError(NotSupportedError):
    """What no mailbox here allows."""


class LimitError(ResponseError):
    """A limit is reached."""

    def get_response(self, tag: bytes) -> ResponseNo:
        return ResponseNo(tag, str(self).encode(), ResponseCode.of(b"LIMIT"))


class EndedError(ResponseError):
    """The token has ended, or was deleted: so does the connection."""

    def get_response(self, tag: bytes) -> ResponseBye:
        return ResponseBye(b"Your token has ended.")
