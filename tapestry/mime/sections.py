"""The parts of a message by their section numbers, as IMAP has them (RFC 9051, 6.4.5).

A section is a slice of the original: nothing is decoded, or copied, until it is asked for.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from dataclasses import dataclass, field, replace
from email.message import Message as Part

from tapestry.mime.bounded_parser import headers_of
from tapestry.mime.charset import decode

MOST = 1000
"""Sections of a message that are found."""

DEEPEST = 30
"""Levels of parts within parts that are searched; each looks through its bytes once."""

LONGEST_HEAD = 256 * 1024
"""Bytes of the headers of a part that are read."""

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_UUENCODED = ("x-uuencode", "uuencode", "uue", "x-uue")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a message: its number, its headers, and where its content is in the original.

    ``begin`` and ``end`` count bytes.  ``is_related``: it belongs to the first part of a
    multipart/related (RFC 2387).  ``is_attached`` is what the part, or one around it, says.
    ``is_of_mail``: it is part of a message that is attached to the message, or quoted in it.
    """

    number: str
    headers: Part = field(repr=False)
    begin: int
    end: int
    is_related: bool = False
    is_attached: bool = False
    is_of_mail: bool = False

    @property
    def kind(self) -> str:
        """The media type, such as ``text/plain``; that of what cannot be read is also that."""
        return self.headers.get_content_type()

    @property
    def is_multipart(self) -> bool:
        """Whether it has parts of its own and no content."""
        return self.kind.startswith("multipart/") and _boundary(self.headers) is not None

    @property
    def content_id(self) -> str:
        """The Content-ID without its brackets (RFC 2392), empty if there is none."""
        return str(self.headers.get("Content-ID", "")).strip().strip("<>").strip()

    @property
    def encoding(self) -> str:
        """The Content-Transfer-Encoding, in lower case."""
        return str(self.headers.get("Content-Transfer-Encoding", "")).strip().lower()

    def parameter(self, name: str) -> str:
        """Return a parameter of Content-Type in lower case, empty if there is none."""
        value = self.headers.get_param(name, "")
        return (value[2] if isinstance(value, tuple) else str(value or "")).strip().lower()

    def size(self, raw: bytes) -> int:
        """Return how many bytes the content has, exactly if it is encoded as it should be."""
        if self.encoding != "base64":
            return self.end - self.begin if not self.encoding else len(self.content(raw))
        signs = self.end - self.begin
        signs -= sum(raw.count(sign, self.begin, self.end) for sign in (b"\n", b"\r", b"=", b" "))
        return signs * 3 // 4

    def content(self, raw: bytes) -> bytes:
        """Return the decoded bytes of the content; those that cannot be decoded are left out."""
        data = raw[self.begin : self.end]
        if self.encoding == "base64":
            return _base64(data)
        if self.encoding == "quoted-printable":
            return quopri.decodestring(data)
        if self.encoding in _UUENCODED:
            return _uudecoded(data)
        return data

    def head(self, raw: bytes, count: int) -> bytes:
        """Return the first bytes of the content."""
        end = min(self.end, self.begin + 4 * count + 200)
        return replace(self, end=end).content(raw)[:count]

    def text(self, raw: bytes, most: int) -> str:
        """Return at most this many bytes of the content as text, with LF at the end of lines."""
        data = self.content(raw)[:most]
        return decode(data, self.headers.get_content_charset()).replace("\r\n", "\n")


def sections(raw: bytes) -> list[Section]:
    r"""Return the parts of a message, outermost first, each before its own parts.

    The message itself is 1 if it is no multipart; of a multipart it has no number.

    >>> raw = b'Content-Type: multipart/mixed; boundary=x\n\n--x\n\nHello\n--x\n\nYou\n--x--\n'
    >>> [(section.number, section.content(raw)) for section in sections(raw)[1:]]
    [('1', b'Hello'), ('2', b'You')]
    """
    found: list[Section] = []
    # A stack, not recursion: the sender chooses the depth.
    waiting = [(_section(raw, "", 0, len(raw)), 0)]
    while waiting and len(found) < MOST:
        section, depth = waiting.pop()
        found.append(section)
        if depth < DEEPEST:
            waiting += [(inner, depth + 1) for inner in reversed(_inner(raw, section))]
    return found


def _inner(raw: bytes, section: Section) -> list[Section]:
    if section.is_multipart:
        prefix = f"{section.number}." if section.number else ""
        is_related = section.kind == "multipart/related"
        return [
            _section(raw, f"{prefix}{count}", *place, section, is_related=is_related and count > 1)
            for count, place in enumerate(_places(raw, section), 1)
        ]
    if section.kind == "message/rfc822" and section.encoding in ("", "7bit", "8bit", "binary"):
        return [_section(raw, section.number, section.begin, section.end, section)]
    return []


def _section(
    raw: bytes,
    number: str,
    begin: int,
    end: int,
    outer: Section | None = None,
    *,
    is_related: bool = False,
) -> Section:
    blank = _HEAD_END.search(raw, begin, end)
    head_end, body = (blank.start(), blank.end()) if blank else (end, end)
    if raw[begin : begin + 1] == b"\n" or raw[begin : begin + 2] == b"\r\n":
        head_end, body = begin, begin + (1 if raw[begin : begin + 1] == b"\n" else 2)
    headers, _ = headers_of(raw[begin : min(head_end, begin + LONGEST_HEAD)] + b"\n\n")
    if outer is not None and outer.kind == "multipart/digest":
        headers.set_default_type("message/rfc822")  # RFC 2046, 5.1.5
    attached = headers.get_content_disposition() == "attachment"
    is_mail = outer is not None and outer.kind == "message/rfc822"
    section = Section(
        number,
        headers,
        body,
        end,
        is_related,
        attached or (outer is not None and outer.is_attached),
        is_mail or (outer is not None and outer.is_of_mail),
    )
    if section.is_multipart or (number and not is_mail):
        return section
    own = f"{number}.1" if number else "1"
    return Section(own, headers, body, end, is_related, section.is_attached, section.is_of_mail)


def _boundary(headers: Part) -> bytes | None:
    boundary = headers.get_boundary()
    return boundary.encode("utf-8", "surrogateescape") if boundary else None


def _places(raw: bytes, section: Section) -> list[tuple[int, int]]:
    """Return where the parts of a multipart begin and end (RFC 2046, 5.1.1)."""
    line = b"\n--" + (_boundary(section.headers) or b"")
    places: list[tuple[int, int]] = []
    begin: int | None = None
    at = raw.find(line, max(0, section.begin - 1), section.end)
    while at >= 0 and len(places) < MOST:
        after = at + len(line)
        line_end = raw.find(b"\n", after, section.end)
        line_end = section.end if line_end < 0 else line_end
        rest = raw[after : min(line_end, after + 200)].strip()
        if rest in (b"", b"--"):
            if begin is not None:
                places.append((begin, max(begin, at - (raw[at - 1 : at] == b"\r"))))
            begin = min(line_end + 1, section.end)
            if rest == b"--":
                return places
        at = raw.find(line, line_end, section.end)
    if begin is not None and len(places) < MOST:
        places.append((begin, section.end))
    return places


def _base64(data: bytes) -> bytes:
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        signs = re.sub(rb"[^A-Za-z0-9+/]", b"", data)
        signs = signs[:-1] if len(signs) % 4 == 1 else signs
        return base64.b64decode(signs + b"=" * (-len(signs) % 4))


def _uudecoded(data: bytes) -> bytes:
    decoded, begun = [], False
    for line in data.splitlines():
        if not begun:
            begun = line.startswith(b"begin ")
        elif line.strip() in (b"end", b"`", b""):
            break
        else:
            try:
                decoded.append(binascii.a2b_uu(line))
            except binascii.Error:
                length = (((line[0] - 32) & 63) * 4 + 5) // 3
                decoded.append(binascii.a2b_uu(line[:length]))
    return b"".join(decoded)
