"""Stream the messages of an mbox with the offsets at which they start and end."""

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tapestry.core.errors import TapestryError
from tapestry.ingest.large_message import MessageBytes

BROKEN_STREAM = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""Errors of a compressed file that is cut short or damaged; bzip2 raises an OSError."""

_FROM = re.compile(
    rb"From .*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
    rb"(?=.*\d:\d\d)(?=.*\b\d{4}\b)"
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_BLANK = (b"\n", b"\r\n")
_BUFFER = 256 * 1024
_LONGEST_DECLARED = 64 * 1024 * 1024
_LONGEST_LINE = 1024 * 1024
_MOST_IN_LINES = 1024 * 1024
"""Bytes of a message that are held as lines: short lines take twenty times the room."""

MOST_TIMES, MOST_UNPACKED = 100, 256 * 1024 * 1024
"""The multiple of its size, and the bytes, that a packed file may hold: the larger of the two."""

_HEAD = 4096
_PATIENCE = 30.0
"""Seconds to wait for a program that writes to an mbox."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of an mbox: its bytes, unquoted, and its offsets in the unpacked stream.

    ``size`` is that of a message too large, of which ``raw`` is the beginning.
    """

    start: int
    end: int
    raw: bytes
    size: int | None = None


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
    file = path.open("rb")
    try:
        magic = file.read(_HEAD)
        file.seek(0)
    except OSError:
        file.close()
        raise
    packed = next((unpack for start, unpack in _PACKED.items() if magic.startswith(start)), None)
    if packed is not None:
        file.close()
        # Buffered once more: GzipFile's own readline is slow.
        return io.BufferedReader(_Unpacked(path, packed), _BUFFER)
    if magic.startswith(b"From ") and b"\r" in magic and b"\n" not in magic:
        return io.BufferedReader(_LineFeeds(file, size), _BUFFER)
    return file if size is None else io.BufferedReader(_Pieces(file, size), _BUFFER)


def head_of(stream: io.BufferedIOBase, size: int) -> bytes:
    """Return the first bytes of an opened archive, fewer if it is damaged there."""
    head = b""
    try:
        while len(head) < size and (more := stream.read1(size - len(head))):
            head += more
    except BROKEN_STREAM:
        if not head:
            raise
    return head


class _Pieces(io.RawIOBase):
    """A file that is read in pieces, up to a size: what comes before damage is not lost."""

    def __init__(self, file: Any, size: int | None = None) -> None:
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
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()


class _LineFeeds(_Pieces):
    """A file with LF for every CR; offsets stay the same."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        buffer[:count] = bytes(buffer[:count]).replace(b"\r", b"\n")
        return count


class _Unpacked(_Pieces):
    """The content of a packed file; UnpacksToTooMuchError if it is out of all proportion."""

    def __init__(self, path: Path, unpack: Callable[[Path], Any]) -> None:
        super().__init__(unpack(path))
        self._path = path
        self._most = max(MOST_UNPACKED, MOST_TIMES * path.stat().st_size)

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        if self._file.tell() > self._most:
            raise UnpacksToTooMuchError(
                f"{self._path} is packed mail of more than {MOST_TIMES} times its size, and more "
                f"than {MOST_UNPACKED // 1024**2} MiB: it is not read to its end.",
                hint="If you trust it, unpack it yourself, and take in what comes out.",
            )
        return count


class UnpacksToTooMuchError(TapestryError):
    """A packed file holds out of all proportion: a decompression bomb."""


_PACKED: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
"""Functions that open a packed file, by its first bytes."""


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

    A From line counts after a blank line only, and if it holds a date and time; before the first
    message any "From " counts.  ``>From `` is unquoted (mboxo, mboxrd).  A message with a
    Content-Length that ends before a From line or the end of the file has that length, and its
    lines stay as they are (mboxcl, mboxcl2).  The last message is yielded however it ends,
    except that of a damaged compressed stream: more of it may come, and the error is raised.
    """
    stream.seek(start)
    lines: list[bytes] = []
    content, moved = MessageBytes(), start  # the lines before this offset
    in_message, after_blank = False, True
    offset = begin = start
    length: int | None = None
    ahead, is_end = io.BytesIO(), False
    while line := ahead.readline(_LONGEST_LINE) or stream.readline(_LONGEST_LINE):
        if after_blank and (is_from_line(line) or (not in_message and line.startswith(b"From "))):
            if in_message:
                yield _entry(begin, offset, content, lines)
            lines, begin, in_message, length = [], offset, True, -1
            content, moved = MessageBytes(), offset
        else:
            if offset - moved > _MOST_IN_LINES:
                content.write(b"".join(lines))
                lines, moved = [], offset
            lines.append(line)
            if length == -1 and line[:15].lower() == b"content-length:":
                digits = line[15:].strip()
                length = int(digits) if digits.isdigit() and len(digits) < 12 else None
        offset += len(line)
        after_blank = line in _BLANK
        if after_blank and length is not None:
            if 0 < length <= _LONGEST_DECLARED and in_message:
                if ahead.tell() == ahead.getbuffer().nbytes:
                    read = stream.read(length) + stream.readline(_LONGEST_LINE)
                    after = stream.readline(_LONGEST_LINE)
                    ahead, is_end = io.BytesIO(read + after), not after
                position = ahead.tell()
                parts = _by_content_length(ahead, length, is_end)
                if parts is not None:
                    body, gap, from_line = parts
                    end = offset + length + len(gap)
                    content.write(b"".join(lines) + body)
                    yield Entry(begin, end, content.raw, content.size)
                    lines, begin, in_message, length = [], end, bool(from_line), -1
                    content, moved = MessageBytes(), end
                    offset, after_blank = end + len(from_line), False
                    continue
                ahead.seek(position)
            length = None
    if in_message:
        yield _entry(begin, offset, content, lines)


def _by_content_length(
    ahead: io.BytesIO, length: int, is_end: bool
) -> tuple[bytes, bytes, bytes] | None:
    """Return a body of ``length`` bytes, the blank line after it if any, and the next From line.

    None if the length is wrong: the body ends within a line, or neither a From line follows nor,
    at ``is_end``, nothing.  The body is copied only if the length is right.
    """
    buffer, end = ahead.getbuffer(), ahead.tell() + length
    if end > buffer.nbytes:
        return None
    ahead.seek(end)
    line, gap = ahead.readline(), b""
    if line in _BLANK:
        gap, line = line, ahead.readline()
    is_whole = gap or buffer[end - 1] == ord("\n")
    if not is_whole or not (is_from_line(line) if line else is_end):
        return None
    return bytes(buffer[end - length : end]), gap, line


def _entry(begin: int, end: int, content: MessageBytes, lines: list[bytes]) -> Entry:
    if lines and lines[-1] in _BLANK:
        lines.pop()  # the separator, no part of the message
    content.write(b"".join(lines))
    raw = content.raw
    raw = _QUOTED_FROM.sub(rb"\1", raw) if b">From " in raw else raw
    return Entry(begin, end, raw, content.size)
