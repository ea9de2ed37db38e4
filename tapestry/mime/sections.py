"""The parts of a message by their section numbers, as IMAP has them (RFC 9051, 6.4.5).

A section is a slice of the original: nothing is decoded, or copied, until it is asked for.  So
memory does not grow with a message, and there are bounds on parts, levels and lines:

    bytes ─ headers ─> kind ─ delimiters ─> slices ─> sections, outermost first
                  └────────────┴─> ``problems``: in words, also what was passed over
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email.message import Message as Headers

from tapestry.mime.charset import decode
from tapestry.mime.header_section import BOUNDS as HEADER_BOUNDS
from tapestry.mime.header_section import LINE_END, HeaderReader
from tapestry.mime.problems import ENCODED_PARTS, NO_BOUNDARY, NO_END, NO_PARTS
from tapestry.mime.transfer_encoding import is_encoded, undo

MOST_PARTS = 10_000
"""Sections of a message that are read."""

MOST_DELIMITERS = 200_000
"""Lines of a message that are looked at as if they began a part."""

DEEPEST = 100
"""Levels of parts within parts that are read."""

MOST_SEARCHED = 2 * 1024**3
"""Bytes times levels that are searched for the delimiters of parts: some seconds."""

TOO_MANY_PARTS = f"more than {MOST_PARTS:,} parts: the rest is not read"
TOO_MANY_DELIMITERS = f"more than {MOST_DELIMITERS:,} lines between parts: the rest is not read"
TOO_DEEP = "parts within parts, too deep to be read"
BOUNDS = HEADER_BOUNDS | {TOO_MANY_PARTS, TOO_MANY_DELIMITERS, TOO_DEEP}
"""The problems of messages of which not all is read."""

MAIL = ("message/rfc822", "message/global", "message/news", "message/partial")
"""The media types of a message within another."""

_REST = re.compile(rb"(--)?[ \t]*%s" % LINE_END)
"""What follows the boundary in a delimiter."""

_LINE_END = re.compile(LINE_END)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a message: its number, its headers, and where its content is in the original.

    ``kind`` is the media type in lower case; what has no readable one, or announces parts and has
    none, is text/plain.  The part is at ``start``, its content between ``begin`` and ``end``, in
    bytes.  ``is_multipart``: it has parts of its own and no content.  ``is_related``: it belongs
    to the first part of a multipart/related (RFC 2387).  ``is_attached`` is what the part, or one
    around it, says.  ``is_of_mail``: it is part of a message that is attached to the message, or
    quoted in it.
    """

    number: str
    headers: Headers = field(repr=False)
    kind: str
    start: int
    begin: int
    end: int
    is_multipart: bool = False
    is_related: bool = False
    is_attached: bool = False
    is_of_mail: bool = False
    problems: tuple[str, ...] = ()

    @property
    def is_mail(self) -> bool:
        """Tell whether its content is a message, whose own sections follow."""
        return self.kind in MAIL and not is_encoded(self.encoding)

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
        return undo(raw[self.begin : self.end], self.encoding)[0]

    def head(self, raw: bytes, count: int) -> bytes:
        """Return the first bytes of the content."""
        return self._head(raw, count)[0]

    def text(self, raw: bytes, most: int) -> str:
        """Return at most this many bytes of the content as text, with LF at the end of lines."""
        return self.read_text(raw, most)[0]

    def read_text(self, raw: bytes, most: int) -> tuple[str, list[str]]:
        """Return the text of the content, as ``text`` does, and in words what is wrong with it."""
        data, problems = self._head(raw, most)
        return decode(data, self.headers.get_content_charset()).replace("\r\n", "\n"), problems

    def _head(self, raw: bytes, count: int) -> tuple[bytes, list[str]]:
        end = min(self.end, self.begin + 4 * count + 200)
        data, problems = undo(raw[self.begin : end], self.encoding)
        return data[:count], problems if end == self.end else []


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a part, its number if it has one, and the part around it."""

    start: int
    end: int
    number: str = ""
    outer: Section | None = None
    depth: int = 0
    is_related: bool = False


def sections(raw: bytes) -> Iterator[Section]:
    r"""Yield the parts of a message, outermost first, each before its own parts.

    The message itself is 1 if it is no multipart; of a multipart it has no number.

    >>> raw = b'Content-Type: multipart/mixed; boundary=x\n\n--x\n\nHello\n--x\n\nYou\n--x--\n'
    >>> [(section.number, section.content(raw)) for section in sections(raw)][1:]
    [('1', b'Hello'), ('2', b'You')]
    """
    return _Reader(raw).read()


@dataclass(slots=True)
class _Reader:
    raw: bytes
    headers: HeaderReader = field(default_factory=HeaderReader)
    delimiters: int = MOST_DELIMITERS
    searched: int = 0

    def read(self) -> Iterator[Section]:
        # A stack, not recursion: the sender chooses the depth.
        waiting, count = [_Place(0, len(self.raw))], 0
        while waiting:
            count += 1
            place = waiting.pop()
            section, slices = self._section(place)
            waiting += reversed(_inner(section, slices, place.depth + 1))
            if waiting and count == MOST_PARTS:
                waiting.clear()
                section = replace(section, problems=(*section.problems, TOO_MANY_PARTS))
            yield section

    def _section(self, place: _Place) -> tuple[Section, list[tuple[int, int]]]:
        """Return the part at a place, and the slices of the original that it holds."""
        outer, number = place.outer, place.number
        headers, begin, problems = self.headers.read(self.raw, place.start, place.end)
        if outer is not None and outer.kind == "multipart/digest":
            headers.set_default_type("message/rfc822")  # RFC 2046, 5.1.5
        kind, slices = headers.get_content_type(), list[tuple[int, int]]()
        is_multipart = kind.startswith("multipart/")
        if is_multipart:
            slices, more = self._slices(headers, begin, place)
            problems += more
            is_multipart = bool(slices)
            kind = kind if slices else "text/plain"
        of_mail = outer is not None and outer.is_mail
        if not is_multipart and (of_mail or not number):
            number = f"{number}.1" if number else "1"
        section = Section(
            number,
            headers,
            kind,
            place.start,
            begin,
            place.end,
            is_multipart,
            place.is_related,
            headers.get_content_disposition() == "attachment"
            or (outer is not None and outer.is_attached),
            of_mail or (outer is not None and outer.is_of_mail),
            tuple(problems),
        )
        if section.is_multipart and is_encoded(section.encoding):
            section = replace(section, problems=(*section.problems, ENCODED_PARTS))
        if section.is_mail:
            if place.depth == DEEPEST:
                return replace(section, problems=(*section.problems, TOO_DEEP)), []
            slices = [(begin, place.end)]
        return section, slices

    def _slices(
        self, headers: Headers, begin: int, place: _Place
    ) -> tuple[list[tuple[int, int]], list[str]]:
        """Return where the parts of a multipart begin and end (RFC 2046, 5.1.1), and problems.

        A delimiter after the last one begins a part too: some programs show it.
        """
        boundary = headers.get_boundary()
        if not boundary:
            return [], [NO_BOUNDARY]
        boundary = re.sub(r"[\r\n]", "", boundary)  # unfolded, its white space as it is
        self.searched += place.end - begin
        if place.depth == DEEPEST or self.searched > MOST_SEARCHED:
            return [], [TOO_DEEP]
        raw, end, slices = self.raw, place.end, list[tuple[int, int]]()
        line = b"--" + boundary.encode("utf-8", "surrogateescape")
        start: int | None = None
        at = raw.find(line, begin, end)
        while at >= 0 and self.delimiters and len(slices) <= MOST_PARTS:
            self.delimiters -= 1
            rest = _REST.match(raw, at + len(line), end)
            if rest and (at == begin or raw[at - 1] in b"\r\n"):
                if start is not None and at > start:
                    slices.append((start, _before_line_end(raw, start, at)))
                start = None if rest[1] else rest.end()
            at = raw.find(line, _end_of_line(raw, at, end), end)
        if start is not None:
            slices.append((start, _before_line_end(raw, start, end)))
        if at >= 0 and not self.delimiters:
            return slices, [TOO_MANY_DELIMITERS]
        return slices, [NO_PARTS] if not slices else [NO_END] if start is not None else []


def _inner(section: Section, slices: list[tuple[int, int]], depth: int) -> list[_Place]:
    if not section.is_multipart:
        return [_Place(*part, section.number, section, depth) for part in slices]
    prefix = f"{section.number}." if section.number else ""
    is_related = section.kind == "multipart/related"
    return [
        _Place(*part, f"{prefix}{count}", section, depth, is_related and count > 1)
        for count, part in enumerate(slices, 1)
    ]


def _before_line_end(raw: bytes, start: int, end: int) -> int:
    """Return where the last line of a part ends: its line end belongs to the delimiter."""
    if raw[end - 1 : end] in (b"\r", b"\n"):
        end -= 1 + (raw[end - 2 : end] == b"\r\n")
    return max(start, end)


def _end_of_line(raw: bytes, at: int, end: int) -> int:
    found = _LINE_END.search(raw, at, end)
    return found.end() if found else end
