"""Address headers to mailboxes: names and addresses.

Real mail has unquoted commas, missing brackets, and the addresses of list archives
(``joe at x.org (Joe Doe)``), which the standard parser drops or splits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tapestry.mime.headers import decoded

_AT = re.compile(r"^([^\s@]+) at ([^\s@]+\.[^\s@]+)$", re.IGNORECASE)
_BARE = re.compile(r"(?<!\S)[^\s@]+@[^\s@]+\.[^\s@]+(?!\S)")
_SPACED = re.compile(r"\s*([.@])\s*")
"""White space that an address may have around its dots and its @ (RFC 5322, section 4.4)."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_COMMENT = re.compile(r"\([^()]*\)")
_OBSCURED = " @end|ng |rom "
"""Substitutes of some list archives for an @; they leave out the rest of the address."""
_ROUTE = re.compile(r"^@[^:]*:")
_TOKEN = re.compile(
    r'"((?:[^"\\]|\\.)*)"?|<([^<>]*)>?|\\(.)|([,;:()\\])|[^"<>,;:()\\]+|.', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An address, lower case, and its display name; both may be empty."""

    address: str
    name: str


@dataclass(slots=True)
class _Parts:
    """The parts of a mailbox that have been read so far."""

    words: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    angle: str | None = None
    has_at: bool = False


def mailboxes(value: str) -> list[Mailbox]:
    """Return the mailboxes of an unfolded address header, in order; groups are flattened.

    >>> mailboxes("joe at x.org (Joe Doe)")
    [Mailbox(address='joe@x.org', name='Joe Doe')]
    >>> mailboxes("jdoe@test  . example")
    [Mailbox(address='jdoe@test.example', name='')]
    >>> mailboxes("Doe, Joe <Joe@X.org>, friends: ann@x.org;")
    [Mailbox(address='joe@x.org', name='Doe, Joe'), Mailbox(address='ann@x.org', name='')]
    """
    boxes: list[Mailbox] = []
    parts, depth = _Parts(), 0
    comment: list[str] = []
    for token in _TOKEN.finditer(value):
        quoted, angle, escaped, mark = token.groups()
        if mark == "(":
            depth += 1
            if depth > 1:
                comment.append("(")
        elif mark == ")" and depth:
            depth -= 1
            if depth:
                comment.append(")")
            else:
                parts.comments.append("".join(comment))
                comment = []
        elif depth:
            comment.append(escaped or token[0])
        elif quoted is not None:
            parts.words.append(_ESCAPED.sub(r"\1", quoted))
            parts.has_at = parts.has_at or "@" in quoted
        elif angle is not None:
            parts.angle = angle
        elif mark == "," and not _complete(parts):
            # "Doe, Joe <joe@x.org>": the comma belongs to the name.
            parts.words.append(",")
        elif mark in (",", ";"):
            boxes += _mailbox(parts)
            parts = _Parts()
        elif mark == ":" and not _complete(parts):
            parts = _Parts()
        else:
            parts.words.append(token[0])
            parts.has_at = parts.has_at or "@" in token[0]
    if comment:
        parts.comments.append("".join(comment))
    return boxes + _mailbox(parts)


def addresses(boxes: Iterable[Mailbox]) -> tuple[str, ...]:
    """Return the addresses of mailboxes, each once."""
    return tuple(dict.fromkeys(box.address for box in boxes if box.address))


def names(boxes: Iterable[Mailbox]) -> tuple[str, ...]:
    """Return the display names of mailboxes, each once; one that is an address alone is none.

    >>> names(mailboxes('Mary Jones <m@x.org>, "joe@x.org" <joe@x.org>, ann@x.org'))
    ('Mary Jones',)
    """
    named = (box.name for box in boxes if box.name.lower() != box.address)
    return tuple(dict.fromkeys(name for name in named if name))


def _complete(parts: _Parts) -> bool:
    if parts.angle is not None or parts.has_at:
        return True
    # "joe at x.org" is one word here; with many, it is a name or nonsense.
    return len(parts.words) <= 8 and _AT.match("".join(parts.words).strip()) is not None


def _mailbox(parts: _Parts) -> list[Mailbox]:
    text = " ".join("".join(parts.words).split()).strip(" ,")
    comment = " ".join(" ".join(parts.comments).split())
    if parts.angle is None and "," in text:
        text = text.rpartition(",")[2].strip()
    bare = _BARE.findall(text)
    if parts.angle is not None and parts.angle.strip():
        address, name = _COMMENT.sub("", parts.angle), text or comment
        if _AT.match(address.strip()) is None and _OBSCURED not in address:
            address = "".join(address.split())
    elif parts.angle is not None or ("@" not in text and " " in text and not _AT.match(text)):
        # "Joe Doe" or "Joe Doe <>": a name and no address.
        address, name = "", text or comment
    elif len(bare) > 1 and "".join(bare) == text.replace(" ", ""):
        return [Mailbox(address.lower(), "") for address in bare]
    elif len(bare) == 1 and bare[0] != text:
        address, name = bare[0], comment or text.replace(bare[0], "").strip()
    else:
        close = _SPACED.sub(r"\1", text)
        address, name = close if _BARE.fullmatch(close) else text, comment
    address = _ROUTE.sub("", " ".join(address.split())).lower().removeprefix("mailto:")
    address = _AT.sub(r"\1@\2", address)
    name = decoded(name).strip(" \"'")
    return [Mailbox(address, name)] if address or name else []
