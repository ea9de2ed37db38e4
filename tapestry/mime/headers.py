"""Header values to text, instants and names; linear in their length."""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz

from tapestry.core.clock import parse_instant, to_instant
from tapestry.mime.charset import decode

LONGEST = 64 * 1024
"""Characters of a header value that are read."""

_ENCODED_WORD = re.compile(r"=\?([^?\s=]{1,60})\?([bBqQ])\?((?:[^?\r\n]|\?(?!=)){0,2000})\?=")
_Q_BYTE = re.compile(rb"=([0-9A-Fa-f]{2})")
_FOLD = re.compile(r"(?:(?<![ \t])[ \t]+)?[\r\n]+[ \t]*")
_ANGLE = re.compile(r"<([^<>]+)>")
_COMMENT = re.compile(r"\([^()]*\)")
_COLON = re.compile(r"\s*:\s*")
_LONGEST_OFFSET = 24 * 3600


def raw_text(value: str) -> str:
    """Return a header value with its raw 8-bit bytes decoded, unfolded, cut at LONGEST."""
    value = value[:LONGEST]
    if not value.isascii():
        value = decode(value.encode("utf-8", "surrogateescape"))
    return _FOLD.sub(" ", value).strip()


def decoded(value: str) -> str:
    """Return unfolded text with its encoded words decoded; malformed ones stay as they are.

    >>> decoded("=?utf-8?q?caf=C3=A9?= =?utf-8?b?IGF1?= lait")
    'café au lait'
    """
    if "=?" not in value:
        return value
    pieces: list[str] = []
    run: list[bytes] = []
    charset = ""
    end = 0
    for word in _ENCODED_WORD.finditer(value):
        between = value[end : word.start()]
        adjacent = bool(run) and not between.strip()
        if not adjacent or word[1].lower() != charset:
            # A character may be split over two words of one charset: decode them as one.
            pieces.append(decode(b"".join(run), charset))
            run = []
        if not adjacent:
            pieces.append(between)
        charset = word[1].lower()
        run.append(_word_bytes(word[2], word[3]))
        end = word.end()
    pieces.append(decode(b"".join(run), charset))
    pieces.append(value[end:])
    return _FOLD.sub(" ", "".join(pieces)).strip()


def _word_bytes(encoding: str, text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    if encoding in "qQ":
        return _Q_BYTE.sub(lambda byte: bytes([int(byte[1], 16)]), data.replace(b"_", b" "))
    data = re.sub(rb"[^A-Za-z0-9+/]", b"", data)
    data = data[:-1] if len(data) % 4 == 1 else data
    return base64.b64decode(data + b"=" * (-len(data) % 4))


def instant_of(value: str) -> int | None:
    """Return a Date header as an instant, None if it cannot be read.

    Without a zone it is UTC; years may have two digits, or be counted from 1900 (103 for 2003).

    >>> instant_of("Thu, 01 Jan 1970 02:00:00 +0200")
    0
    """
    value = _COLON.sub(":", _COMMENT.sub(" ", value[:200])).strip()
    try:
        parts = parsedate_tz(value)
    except (ValueError, IndexError, TypeError):
        parts = None
    if parts is None:
        with suppress(ValueError):
            return parse_instant(value)
        return None
    year, month, day, hour, minute, second = parts[:6]
    year += 1900 if 100 <= year < 200 else 0
    offset = parts[9] or 0
    offset = offset if abs(offset) <= _LONGEST_OFFSET else 0
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
        return to_instant(moment - timedelta(seconds=offset))
    except (ValueError, OverflowError):
        return None


def list_id(value: str) -> str | None:
    """Return the identifier of a List-Id header, in lower case.

    >>> list_id('"The R list" <R-devel.r-project.org>')
    'r-devel.r-project.org'
    """
    return [value, *_ANGLE.findall(value)][-1].strip().lower() or None


def newsgroups(value: str) -> tuple[str, ...]:
    """Return the groups of a Newsgroups header, lower case, each once."""
    return tuple(dict.fromkeys(name for name in re.split(r"[\s,]+", value.lower()) if name))
