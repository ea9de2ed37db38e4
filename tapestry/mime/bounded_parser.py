r"""A bounded parser: the standard parser of messages, with bounds on parts, headers, depth, memory.

That parser holds every line of a message at once, makes an object of every part, looks at a
header's parameters anew from each semicolon, and at each line once for every multipart that is
open.  Mail made to cost hours, or gigabytes, is a few bytes a line.  Here lines are cut from the
bytes as they are needed, and what is beyond a bound is passed over:

    bytes ─ blocks ─> lines ─ bounds ─> standard parser ─> parts
                                └─> ``exceeded``: in words, what was passed over
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Callable
from email.message import Message as Part
from email.parser import BytesFeedParser
from email.policy import Compat32
from typing import Any

MOST_PARTS = 10_000
"""Parts of a message that are read."""

MOST_HEADER_LINES = 50_000
"""Lines of headers that are read, of a message and its parts together."""

LONGEST_FIELD = 64 * 1024
"""Characters of a header field that are read, with its name."""

LONGEST_HEADERS = 4 * 1024 * 1024
"""Characters of headers that are read, of a message and its parts together."""

LONGEST_PART = 2 * 1024 * 1024
"""Bytes of the text of a part that are read: more than is kept.  Attachments are passed over."""

LONGEST_TEXT = 16 * 1024 * 1024
"""Bytes of the text of all parts together that are read."""

MOST_LINES = 2_000_000
"""Lines that are read; those that are passed over do not count."""

LONGEST_PARAMETERS, MOST_PARAMETERS = 8 * 1024, 100
"""Characters, and parameters, of a header that says what a part is; real ones have few."""

DEEPEST, SHALLOWEST = 100, 10
"""Levels of parts within parts that are read: in all messages, and in the longest."""

TOO_MANY_PARTS = f"more than {MOST_PARTS:,} parts: the rest is not read"
TOO_MANY_LINES = f"more than {MOST_LINES:,} lines: the rest is not read"
TOO_MANY_HEADER_LINES = f"more than {MOST_HEADER_LINES:,} header lines: the rest is not read"
TOO_LONG_FIELD = f"a header of more than {LONGEST_FIELD:,} characters: its end is not read"
TOO_LONG_HEADERS = f"more than {LONGEST_HEADERS:,} characters of headers: the rest is not read"

_WORK = 10_000_000
"""Lines times levels that are compared with what may end a part: some seconds."""

_BLOCK = 64 * 1024
_LINE_END = re.compile(rb"[\r\n]")
_FIELD = re.compile(r"From |[!-9;-~]*:|[\t ]")
"""How a line of headers begins, for the standard parser."""

_BOUNDARY = b"--"


class _Policy(Compat32):
    """Cuts the headers that have parameters."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        if name[:8].lower() == "content-":
            value = value[:LONGEST_PARAMETERS]
            value = ";".join(value.split(";", MOST_PARAMETERS)[:MOST_PARAMETERS])
        return name, value


POLICY = _Policy()


class BoundedParser(BytesFeedParser):
    """A parser of the bytes of one message; ``exceeded`` names the bounds that it exceeds."""

    def __init__(self, raw: bytes, *, headers_only: bool = False) -> None:
        super().__init__(policy=POLICY)
        self.exceeded: dict[str, None] = {}
        self._parts = 0
        self._lines = _BoundedLines(raw, self.exceeded)
        vars(self)["_input"] = self._lines
        if headers_only:
            vars(self)["_headersonly"] = True

    def parse(self) -> Part:
        """Return the message with its parts; RecursionError if they are nested too deep."""
        part: Part = self.close()
        return part

    # The standard parser calls these when a part begins, and after its headers.

    def _new_message(self) -> None:
        if self._parts == MOST_PARTS:
            self.exceeded[TOO_MANY_PARTS] = None
            self._lines.end()
            # An empty part that belongs to nothing: the parser takes it from its stack again.
            state: Any = vars(self)
            state["_cur"] = state["_last"] = Part(policy=POLICY)
            state["_msgstack"].append(state["_cur"])
            return
        self._parts += 1
        super()._new_message()  # type: ignore[misc]
        self._lines.begin_headers()

    def _parse_headers(self, lines: list[str]) -> None:
        super()._parse_headers(lines)  # type: ignore[misc]
        part: Part = vars(self)["_cur"]
        separator = None
        kind = part.get_content_maintype()
        if kind == "multipart" and (boundary := part.get_boundary()) is not None:
            separator = f"--{boundary}"
        read = kind in ("multipart", "message") or (
            kind == "text" and part.get_content_disposition() != "attachment"
        )
        wanted = read and not vars(self)["_headersonly"]
        self._lines.begin_body(LONGEST_PART if wanted else 0, separator)


class _BoundedLines:
    """What the standard parser calls its input: lines, up to one that an open part ends with."""

    def __init__(self, raw: bytes, exceeded: dict[str, None]) -> None:
        self._raw = raw
        self._at = 0
        self._lines: deque[str] = deque()
        self._ends: list[Callable[[str], Any]] = []
        self._levels: int | None = None
        self._exceeded = exceeded
        self._in_headers = self._has_ended = False
        self._header_lines = self._header_length = self._field_length = 0
        self._room = self._granted = LONGEST_PART
        self._left = LONGEST_TEXT
        self._read = 0
        self._separator: str | None = None
        self._next_boundary: dict[bytes, int | None] = {b"\n--": None, b"\r--": None}

    def begin_headers(self) -> None:
        """Count the lines that follow as headers."""
        self._in_headers, self._has_ended, self._field_length = True, False, 0

    def begin_body(self, room: int, separator: str | None) -> None:
        """Pass over what follows beyond ``room`` characters, but for lines with the separator."""
        self._in_headers = self._has_ended = False
        self._left -= self._granted - max(self._room, 0)
        self._room = self._granted = max(0, min(room, self._left))
        self._separator = separator

    def end(self) -> None:
        """Yield no other line."""
        self._lines.clear()
        self._at = len(self._raw)

    # What the parser calls.

    def push_eof_matcher(self, end: Callable[[str], Any]) -> None:
        if len(self._ends) >= SHALLOWEST and len(self._ends) >= self._most_levels():
            raise RecursionError
        self._ends.append(end)

    def _most_levels(self) -> int:
        if self._levels is None:
            lines = self._raw.count(b"\n") + self._raw.count(b"\r") + 1
            self._levels = min(DEEPEST, max(SHALLOWEST, _WORK // lines))
        return self._levels

    def pop_eof_matcher(self) -> None:
        self._ends.pop()

    def close(self) -> None:
        pass

    def unreadline(self, line: str) -> None:
        self._lines.appendleft(line)

    def __iter__(self) -> _BoundedLines:
        return self

    def __next__(self) -> str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readline(self) -> str:
        """Return the next line; nothing where the part ends, or the message."""
        while self._lines or self._fill():
            line = self._lines.popleft()
            for is_end in reversed(self._ends):
                if is_end(line):
                    self._lines.appendleft(line)
                    self._has_ended = True
                    return ""
            if self._has_ended:
                # The line that has ended a part; what follows is no text of that part.
                self.begin_body(LONGEST_PART, None)
                return line
            if self._in_headers:
                line = self._of_headers(line)
                if line:
                    return line
                continue
            self._room -= len(line)
            if self._room >= 0 or self._is_separator(line):
                return line
        return ""

    def _is_separator(self, line: str) -> bool:
        """Return whether a line may begin a part; of lines that only look like it, not for ever."""
        separator = self._separator
        return separator is not None and line.startswith(separator) and self._room > -LONGEST_PART

    def _of_headers(self, line: str) -> str:
        """Return as much of a line of headers as is read, perhaps nothing."""
        if _FIELD.match(line) is None:
            return line  # the end of the headers
        self._header_lines += 1
        if self._header_lines > MOST_HEADER_LINES:
            self._exceeded[TOO_MANY_HEADER_LINES] = None
            return ""
        if line[0] not in " \t":
            self._field_length = 0
        room = LONGEST_FIELD - self._field_length
        self._field_length += len(line)
        if len(line) > room:
            self._exceeded[TOO_LONG_FIELD] = None
            line = line[: max(0, room - 1)] + "\n" if room > 1 else ""
        self._header_length += len(line)
        if self._header_length > LONGEST_HEADERS:
            self._exceeded[TOO_LONG_HEADERS] = None
            return ""
        return line

    def _fill(self) -> bool:
        """Read the next block of lines; return False at the end of the message."""
        if self._room < 0 and not self._in_headers:
            self._pass_over()
        if self._read > MOST_LINES:
            self._exceeded[TOO_MANY_LINES] = None
            self.end()
        raw, begin = self._raw, self._at
        end = begin + _BLOCK
        if end < len(raw):
            end = max(raw.rfind(b"\n", begin, end), raw.rfind(b"\r", begin, end)) + 1
            if end == 0:
                found = _LINE_END.search(raw, begin + _BLOCK)
                end = found.end() if found else len(raw)
            if raw[end - 1 : end + 1] == b"\r\n":
                end += 1
        end = min(end, len(raw))
        self._at = end
        is_long = end - begin > LONGEST_PART
        block = raw[begin : begin + LONGEST_PART] + b"\n" if is_long else raw[begin:end]
        text = block.decode("ascii", "surrogateescape")
        self._lines.extend(io.StringIO(text, newline="").readlines())
        self._read += len(self._lines)
        return bool(self._lines)

    def _pass_over(self) -> None:
        """Go on to the next line that may end a part: all begin with two hyphens."""
        raw, at = self._raw, self._at
        if raw.startswith(_BOUNDARY, at):
            return
        for start, found in self._next_boundary.items():
            if found is None or 0 <= found < at - 1:
                self._next_boundary[start] = raw.find(start, max(0, at - 1))
        there = [found for found in self._next_boundary.values() if found not in (None, -1)]
        self._at = min(filter(None, there)) + 1 if there else len(raw)


def structure_of(raw: bytes) -> tuple[Part, list[str]]:
    """Return a message with its parts, and in words the bounds that it exceeds.

    Raises RecursionError if parts are nested too deep.
    """
    parser = BoundedParser(raw)
    return parser.parse(), list(parser.exceeded)


def headers_of(raw: bytes) -> tuple[Part, list[str]]:
    """Return the headers of a message, and in words the bounds that they exceed."""
    parser = BoundedParser(raw, headers_only=True)
    return parser.parse(), list(parser.exceeded)
