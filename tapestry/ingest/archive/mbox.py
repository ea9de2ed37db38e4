"""Messages of an mbox, streamed, each with the offsets at which it starts and ends."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import io
import lzma
import os
import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BROKEN_STREAM = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""What reading a compressed file raises if it is cut short or damaged; bzip2's is an OSError."""

_FROM = re.compile(
    rb"From .*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
    rb"(?=.*\d:\d\d)(?=.*\b\d{4}\b)"
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_BUFFER = 256 * 1024
_LONGEST_DECLARED = 64 * 1024 * 1024
_LONGEST_LINE = 1024 * 1024
_HEAD = 4096
_PATIENCE = 30.0
"""Seconds for which a program that writes to an mbox is waited for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of an mbox: its bytes, unquoted, and its place in the unpacked stream."""

    start: int
    end: int
    raw: bytes


def settled_size(path: Path, patience: float = _PATIENCE) -> int:
    """Return the bytes of an mbox up to which no other program is writing a message.

    A program that delivers to an mbox holds its fcntl lock meanwhile (RFC 4155).  The lock is
    waited for ``patience`` seconds at most.
    """
    with path.open("rb") as file:
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                if time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
            except OSError:
                pass  # a file system without locks
            return os.fstat(file.fileno()).st_size


def open_archive(path: Path, size: int | None = None) -> io.BufferedIOBase:
    """Open a file for reading, unpacked if it is gzip, bzip2 or xz (by content, not name).

    Of a file that is not packed, only the first ``size`` bytes are read.  In an mbox from an old
    Macintosh, the CR at the end of each line becomes LF.
    """
    with path.open("rb") as file:
        magic = file.read(_HEAD)
    if magic.startswith(b"\x1f\x8b"):
        # Buffered once more: GzipFile's own readline is slow.
        return io.BufferedReader(_Pieces(gzip.GzipFile(path)), _BUFFER)
    if magic.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(path, "rb")
    if magic.startswith(b"From ") and b"\r" in magic and b"\n" not in magic:
        return io.BufferedReader(_LineFeeds(path.open("rb"), size), _BUFFER)
    if size is not None:
        return io.BufferedReader(_Pieces(path.open("rb"), size), _BUFFER)
    return path.open("rb")


def head_of(stream: io.BufferedIOBase, size: int) -> bytes:
    """Return the first bytes of an opened archive, fewer where it is damaged before that."""
    head = b""
    try:
        while len(head) < size and (more := stream.read1(size - len(head))):
            head += more
    except BROKEN_STREAM:
        if not head:
            raise
    return head


class _Pieces(io.RawIOBase):
    """A file that is read piece by piece, up to a size: what stands before damage is not lost."""

    def __init__(self, file: gzip.GzipFile | io.BufferedReader, size: int | None = None) -> None:
        self._file = file
        self._size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = len(buffer)
        if self._size is not None:
            room = min(room, max(self._size - self._file.tell(), 0))
        data = self._file.read1(room)
        buffer[: len(data)] = data
        return len(data)

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


class _LineFeeds(_Pieces):
    """A file with LF for every CR; places stay the same."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        buffer[:count] = bytes(buffer[:count]).replace(b"\r", b"\n")
        return count


def is_from_line(line: bytes) -> bool:
    """Return whether a line after a blank one starts a message.

    >>> is_from_line(b"From joe at x.org  Fri Jan  2 14:26:52 2004")
    True
    >>> is_from_line(b"From what I see, May is as good as June.")
    False
    """
    return line.startswith(b"From ") and _FROM.match(line[:500]) is not None


def entries(stream: io.BufferedIOBase, start: int = 0) -> Iterator[Entry]:
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
    again, ended = io.BytesIO(), False
    while line := again.readline(_LONGEST_LINE) or stream.readline(_LONGEST_LINE):
        if blank and (is_from_line(line) or (not begun and line.startswith(b"From "))):
            if begun:
                yield Entry(begin, offset, _joined(lines))
            lines, begin, begun, length = [], offset, True, -1
        else:
            lines.append(line)
            if length == -1 and line[:15].lower() == b"content-length:":
                digits = line[15:].strip()
                length = int(digits) if digits.isdigit() and len(digits) < 12 else None
        offset += len(line)
        blank = line in (b"\n", b"\r\n")
        if blank and length is not None:
            if 0 < length <= _LONGEST_DECLARED and begun:
                if again.tell() == again.getbuffer().nbytes:
                    ahead = stream.read(length) + stream.readline(_LONGEST_LINE)
                    last = stream.readline(_LONGEST_LINE)
                    again, ended = io.BytesIO(ahead + last), not last
                at = again.tell()
                entry = _by_content_length(again, length, ended)
                if entry is not None:
                    body, gap, after = entry
                    end = offset + length + len(gap)
                    yield Entry(begin, end, b"".join(lines) + body)
                    lines, begin, begun, length = [], end, bool(after), -1
                    offset, blank = end + len(after), False
                    continue
                again.seek(at)
            length = None
    if begun:
        yield Entry(begin, offset, _joined(lines))


def _by_content_length(
    ahead: io.BytesIO, length: int, ended: bool
) -> tuple[bytes, bytes, bytes] | None:
    """Return a body of so many bytes, the blank line after it if any, and the next From line.

    None if it is not that long: it ends within a line, or neither a From line follows nor, where
    all is ``ended``, nothing.  Nothing is copied before that is known: many may lie.
    """
    held, at = ahead.getbuffer(), ahead.tell()
    if at + length > held.nbytes:
        return None
    ahead.seek(at + length)
    after, gap = ahead.readline(), b""
    if after in (b"\n", b"\r\n"):
        gap, after = after, ahead.readline()
    if not gap and held[at + length - 1] != ord("\n"):
        return None
    if not (is_from_line(after) if after else ended):
        return None
    return bytes(held[at : at + length]), gap, after


def _joined(lines: list[bytes]) -> bytes:
    if lines and lines[-1] in (b"\n", b"\r\n"):
        lines.pop()  # the separator, no part of the message
    raw = b"".join(lines)
    return _QUOTED_FROM.sub(rb"\1", raw) if b">From " in raw else raw
