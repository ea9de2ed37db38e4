"""Message-IDs: those that a header names, and those that are made of the bytes of a message."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

LONGEST_ID = 998
"""Bytes of a Message-ID: the longest line of RFC 5322, 2.1.1; databases index no more."""

_ANGLE = re.compile(r"<([^<>]+)>")
_SPACE = re.compile(r"\s+")


def _fields(*names: bytes) -> re.Pattern[bytes]:
    field = rb"^(?:%s)[ \t]*:.*\n(?:[ \t].*\n)*" % b"|".join(names)
    return re.compile(field, re.MULTILINE | re.IGNORECASE)


_NOTED = _fields(
    b"X?-?Status", b"X-Keywords", b"X-UID", b"X-IMAP(?:base)?", b"X-Mozilla-[A-Za-z0-9-]+",
    b"Content-Length", b"Lines",
)  # fmt: skip
"""Headers that mail programs add in an mbox."""

_TRACE = _fields(
    b"Received", b"Return-Path", b"Delivered-To", b"Envelope-To", b"X-Original-To"
)  # fmt: skip
"""Headers that servers add on the way (RFC 5322, section 3.6.7)."""

_DATE = _fields(b"Date")
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_PIECE = 1024 * 1024


def message_ids(value: str) -> tuple[str, ...]:
    """Return the Message-IDs of a value in order, each once, without angle brackets.

    Without brackets they count only where there is nothing else: an address in a sentence is no
    Message-ID.  One longer than LONGEST_ID is replaced by its hash, under ``long.invalid``.

    >>> message_ids('Your message of "Fri, 2 Jan 2004" <a@x.org> <b@x.org>')
    ('a@x.org', 'b@x.org')
    >>> message_ids("a@x.org, b@x.org"), message_ids("joe@x.org's message of Friday")
    (('a@x.org', 'b@x.org'), ())
    """
    msgids = [_SPACE.sub("", match) for match in _ANGLE.findall(value)]
    if not msgids and all("@" in word for word in value.split()):
        msgids = [word.strip("<>,;") for word in value.split()]
    return tuple(dict.fromkeys(_shortened(msgid) for msgid in msgids if msgid))


def own_id(value: str) -> str | None:
    """Return the Message-ID that a Message-ID header holds, None if it holds none."""
    bare = _SPACE.sub("", value).strip("<>")
    return next(iter(message_ids(value)), _shortened(bare)) or None


def _shortened(msgid: str) -> str:
    data = msgid.encode("utf-8", "surrogatepass")
    if len(data) <= LONGEST_ID:
        return msgid
    return hashlib.blake2b(data, digest_size=16).hexdigest() + "@long.invalid"


def made_id(raw: bytes) -> str:
    """Return a Message-ID that is a hash of a message as it was when it was sent.

    Line ends, blank lines at its end and headers that mail programs add do not count; nor, if it
    has a Date, headers that servers add.
    """
    between = _BLANK_LINE.search(raw)
    head = raw[: between.start()] if between else raw
    head = _NOTED.sub(b"", head.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n")
    if _DATE.search(head):
        head = _TRACE.sub(b"", head)
    made = hashlib.blake2b(head, digest_size=16)
    made.update(b"\n")
    for piece in _body_pieces(raw, between.end() if between else len(raw)):
        made.update(piece)
    return made.hexdigest() + "@content.invalid"


def _body_pieces(raw: bytes, at: int) -> Iterator[bytes]:
    """Yield what follows an offset, with LF at the end of lines, without blank lines at its end."""
    blank = 0
    while at < len(raw):
        end = min(at + _PIECE, len(raw))
        end += raw[end - 1 : end + 1] == b"\r\n"
        piece = raw[at:end].replace(b"\r\n", b"\n")
        text = piece.rstrip(b"\n")
        if text:
            yield b"\n" * blank
            yield text
            blank = 0
        blank += len(piece) - len(text)
        at = end
