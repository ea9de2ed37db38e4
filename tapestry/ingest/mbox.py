"""Messages of an mbox, streamed, each with the offsets at which it starts and ends."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

BROKEN_STREAM = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""What reading a compressed file raises if it is cut short or damaged."""

_FROM = re.compile(
    rb"From .*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
    rb"(?=.*\d:\d\d)(?=.*\b\d{4}\b)"
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_BUFFER = 256 * 1024
_LONGEST_SAID = 64 * 1024 * 1024
_LONGEST_LINE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of an mbox: its bytes, unquoted, and its place in the unpacked stream."""

    start: int
    end: int
    raw: bytes


def open_archive(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked if it is gzip, bzip2 or xz (by content, not name)."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        # Buffered once more: GzipFile's own readline is slow.
        return io.BufferedReader(cast(io.RawIOBase, gzip.open(path, "rb")), _BUFFER)
    if magic.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(path, "rb")
    return path.open("rb")


def is_from_line(line: bytes) -> bool:
    """Return whether a line after a blank one starts a message.

    >>> is_from_line(b"From joe at x.org  Fri Jan  2 14:26:52 2004")
    True
    >>> is_from_line(b"From what I see, May is as good as June.")
    False
    """
    return line.startswith(b"From ") and _FROM.match(line[:500]) is not None


def entries(stream: IO[bytes], start: int = 0) -> Iterator[Entry]:
    """Yield the messages of an mbox from offset ``start``, where a From line must stand.

    A From line counts after a blank line only, and if it holds a date and time; before
    the first message any "From " will do.  ``>From `` is unquoted (mboxo, mboxrd), unless
    the message says how long it is and a From line or the end follows there (mboxcl, mboxcl2):
    then it is that long, whatever lines it has.  The last message is yielded however it ends;
    that of a damaged compressed stream is not, as more of it may come: the error is raised
    instead.
    """
    stream.seek(start)
    lines: list[bytes] = []
    begun = False
    blank = True
    offset = begin = start
    length: int | None = None
    again = io.BytesIO()
    while line := again.readline(_LONGEST_LINE) or stream.readline(_LONGEST_LINE):
        if blank and (is_from_line(line) or (not begun and line.startswith(b"From "))):
            if begun:
                yield Entry(begin, offset, _joined(lines))
            lines, begin, begun, length = [], offset, True, -1
        else:
            lines.append(line)
            if length == -1 and line[:15].lower() == b"content-length:":
                length = int(line[15:]) if line[15:].strip().isdigit() else None
        offset += len(line)
        blank = line in (b"\n", b"\r\n")
        if blank and length is not None:
            nothing_left = again.tell() == again.getbuffer().nbytes
            if 0 < length <= _LONGEST_SAID and begun and nothing_left:
                body = stream.read(length)
                after = stream.readline(_LONGEST_LINE)
                gap = b""
                if after in (b"\n", b"\r\n"):
                    gap, after = after, stream.readline(_LONGEST_LINE)
                if len(body) == length and (not after or is_from_line(after)):
                    end = offset + length + len(gap)
                    yield Entry(begin, end, b"".join(lines) + body)
                    lines, begin, begun, length = [], end, bool(after), -1
                    offset, blank = end + len(after), False
                    continue
                again = io.BytesIO(body + gap + after)
            length = None
    if begun:
        yield Entry(begin, offset, _joined(lines))


def _joined(lines: list[bytes]) -> bytes:
    if lines and lines[-1] in (b"\n", b"\r\n"):
        lines.pop()  # the separator, no part of the message
    raw = b"".join(lines)
    return _QUOTED_FROM.sub(rb"\1", raw) if b">From " in raw else raw
