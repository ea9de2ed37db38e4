r"""Tell versions of a letter apart: each version of a message has a Message-ID of its own.

So says RFC 5322, section 3.6.4.  A letter that is sent again as it was keeps its Message-ID, by
which receivers know it.  A changed one may not: they would drop it as what they have already.
"""

from __future__ import annotations

from email.parser import BytesHeaderParser

_OF_A_TRANSMISSION = ("date", "message-id", "to", "cc", "content-type")
"""Headers that may differ; Content-Type has the boundary, which is chosen anew each time."""


def is_same_version(first: bytes, second: bytes) -> bool:
    r"""Tell whether two letters of tapestry.compose.letter say the same, to whomever.

    >>> is_same_version(b"To: a@x.org\r\n\r\nHi\r\n", b"To: b@x.org\r\n\r\nHi\r\n")
    True
    >>> is_same_version(b"To: a@x.org\r\n\r\nHi\r\n", b"To: a@x.org\r\n\r\nHi!\r\n")
    False
    """
    return _content(first) == _content(second)


def _content(raw: bytes) -> tuple[list[tuple[str, str]], bytes]:
    head, _, body = raw.partition(b"\r\n\r\n")
    message = BytesHeaderParser().parsebytes(head + b"\r\n\r\n")
    boundary = message.get_boundary()
    headers = [
        (name.lower(), str(value))
        for name, value in message.items()
        if name.lower() not in _OF_A_TRANSMISSION
    ]
    return headers, body.replace(boundary.encode(), b"") if boundary else body
