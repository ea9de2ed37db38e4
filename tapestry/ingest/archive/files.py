"""Mail in files: mboxes (packed or not), Maildirs, directories and single messages."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from io import BufferedIOBase
from itertools import chain
from pathlib import Path

from tapestry.core.errors import TapestryError
from tapestry.ingest.archive.mbox import (
    BROKEN_STREAM,
    entries,
    head_of,
    is_from_line,
    open_archive,
    settled_size,
)
from tapestry.ingest.stream import CursorOf, Item, MessageStream
from tapestry.tables.append import Cursor

_HEADER = re.compile(
    rb"^(?:From|To|Date|Subject|Message-ID|Received|Return-Path|Delivered-To|MIME-Version|"
    rb"Content-Type|Newsgroups|Path|Reply-To|Sender)[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)
_FINGERPRINT = 256
_CHUNK = 1024 * 1024
_MOST_NAMED = 5
"""Files that are named in an error, at most."""


class Kind(Enum):
    """What a file holds, by its first bytes."""

    MBOX = "mbox"
    MESSAGE = "message"
    EMPTY = "empty"

    OTHER = "other"


def path_of(what: str) -> Path:
    """Return an absolute path, ``~`` expanded; TapestryError if there is no such user."""
    try:
        return Path(what).expanduser().absolute()
    except RuntimeError as error:
        raise TapestryError(
            f"There is no user whose directory {what} could be in.", hint="Write the whole path."
        ) from error


def open_archive_source(what: str, audience: str, cursor_of: CursorOf) -> MessageStream:
    """Open a file or directory of mail; an mbox goes on from its cursor.

    Errors of single files are raised after the others were read.  Raises TapestryError if there
    is no mail to read.
    """
    path = path_of(what)
    try:
        if path.is_dir():
            return _directory(path, audience, cursor_of)
        if path.exists() and not path.is_file():
            raise TapestryError(
                f"{what} is neither a file nor a directory.", hint="Write it to a file first."
            )
    except OSError as error:
        raise _unreadable(path, error) from error
    kind = kind_of(path)
    if kind is Kind.MBOX:
        items = _mbox(path, audience, cursor_of)
        return MessageStream(path.name, items, lambda: count_messages(path))
    if kind is Kind.MESSAGE:
        return MessageStream(path.name, _file(path), lambda: 1)
    if kind is Kind.EMPTY:
        raise TapestryError(f"{what} is empty.", hint="Give a file that holds mail.")
    raise TapestryError(
        f"{what} is neither an mbox nor a message.",
        hint="Give an mbox (.gz, .bz2, .xz too), a Maildir, a .eml file, or a directory of these.",
    )


def kind_of(path: Path) -> Kind:
    """Return what a file holds, unpacked; TapestryError if it cannot be read."""
    try:
        with open_archive(path) as stream:
            head = head_of(stream, 4096).lstrip(b"\r\n")
    except BROKEN_STREAM as error:
        raise _damaged(path, 0) from error
    except OSError as error:
        # What bzip2 says of a damaged file has no number.
        raise (_unreadable(path, error) if error.errno else _damaged(path, 0)) from error
    if not head:
        return Kind.EMPTY
    if head.startswith(b"From "):
        return Kind.MBOX
    if path.suffix.lower() == ".eml":
        return Kind.MESSAGE
    block = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").partition(b"\n\n")[0]
    return Kind.MESSAGE if _HEADER.search(block) and b"\0" not in block else Kind.OTHER


def count_messages(path: Path) -> int | None:
    """Return about how many messages an mbox holds, by its From lines; None if it is damaged."""
    count, last = 1, b""
    try:
        with open_archive(path) as stream:
            while chunk := stream.read(_CHUNK):
                count += (last + chunk).count(b"\nFrom ")
                last = (last + chunk)[-5:]
    except BROKEN_STREAM:
        return None
    return count


def _directory(path: Path, audience: str, cursor_of: CursorOf) -> MessageStream:
    if (path / "cur").is_dir() or (path / "new").is_dir():
        files = [*_sorted_files(path / "new"), *_sorted_files(path / "cur")]
        return MessageStream(path.name, _all_of(map(_file, files), []), lambda: len(files))
    by_kind: dict[Kind, list[Path]] = {kind: [] for kind in Kind}
    failures: list[TapestryError] = []
    for file in _sorted_files(path):
        try:
            by_kind[kind_of(file)].append(file)
        except TapestryError as error:
            failures.append(error)
    mboxes, messages = by_kind[Kind.MBOX], by_kind[Kind.MESSAGE]
    if not mboxes and not messages and not failures:
        raise TapestryError(
            f"The directory {path} holds no mail.",
            hint="Give a Maildir, or a directory with .eml files or mboxes in it.",
        )

    def total() -> int | None:
        counts = [len(messages), *map(count_messages, mboxes)]
        return None if None in counts else sum(filter(None, counts))

    readers = chain(map(_file, messages), (_mbox(file, audience, cursor_of) for file in mboxes))
    return MessageStream(path.name, _all_of(readers, failures), total)


def _all_of(readers: Iterable[Iterator[Item]], failures: list[TapestryError]) -> Iterator[Item]:
    """Yield what can be read; raise what is wrong with the others at the end."""
    for reader in readers:
        try:
            yield from reader
        except TapestryError as error:
            failures.append(error)
    if len(failures) > 1:
        sentences = [error.message for error in failures[:_MOST_NAMED]]
        if len(failures) > _MOST_NAMED:
            sentences.append(f"And {len(failures) - _MOST_NAMED} more.")
        raise TapestryError(" ".join(sentences), hint=failures[0].hint)
    if failures:
        raise failures[0]


def _sorted_files(path: Path) -> list[Path]:
    """Return the files below a directory, except those hidden or still being delivered."""
    return sorted(
        file
        for file in path.rglob("*")
        if file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and not (file.parent.name == "tmp" and (file.parent.parent / "cur").is_dir())
    )


def _file(file: Path) -> Iterator[Item]:
    try:
        with open_archive(file) as stream:
            raw = stream.read()
    except FileNotFoundError:
        return  # a Maildir's reader has renamed it meanwhile; the next pull finds it
    except (OSError, *BROKEN_STREAM) as error:
        raise _unreadable(file, error) from error
    yield Item(raw)


class _Content:
    """The hash of what a stream holds, read up to where another reader is."""

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._hash = hashlib.blake2b(digest_size=8)
        self._end = 0

    def up_to(self, end: int) -> int:
        """Return a number of 63 bits for all bytes before ``end``, which only grows."""
        while self._end < end and (chunk := self._stream.read(min(_CHUNK, end - self._end))):
            self._hash.update(chunk)
            self._end += len(chunk)
        return int.from_bytes(self._hash.digest(), "big") >> 1


def _mbox(path: Path, audience: str, cursor_of: CursorOf) -> Iterator[Item]:
    """Yield an mbox's messages from where its cursor stands.

    The cursor is an offset into the unpacked stream of an archive known by its path and
    its first bytes, with a hash of all before it.  If that has changed, or no message starts
    there (its end was half a message then), the archive is read from its start: stored
    messages are not added again.
    """
    read = 0
    try:
        size = settled_size(path)
        with open_archive(path, size) as stream, open_archive(path, size) as again:
            content = _Content(again)
            fingerprint = hashlib.blake2b(head_of(stream, _FINGERPRINT), digest_size=8).hexdigest()
            name = os.fsencode(path).decode("utf-8", "backslashreplace")
            source = f"mbox:{name}#{fingerprint}@{audience}"
            stored = cursor_of(source)
            reached = stored.version if stored else 0
            start = _resume_at(stream, reached)
            if stored and stored.content not in (None, content.up_to(reached)):
                start = 0
                again.seek(0)
                content = _Content(again)
            if start is None:
                return
            for entry in entries(stream, start):
                cursor = None
                # A last message without a line's end may be half written, by a program that
                # does not lock: the cursor stays before it.
                is_complete = entry.raw.endswith(b"\n") or not entry.raw
                if is_complete and entry.end > reached:
                    cursor = Cursor(source, entry.end, content.up_to(entry.end))
                yield Item(entry.raw, source, cursor)
                read += 1
    except BROKEN_STREAM as error:
        raise _damaged(path, read) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _resume_at(stream: BufferedIOBase, reached: int) -> int | None:
    """Return the offset to read from: the cursor, the start, or None if nothing is new."""
    if not reached:
        return 0
    stream.seek(reached - 1)
    if not stream.read(1):
        return 0  # shorter than it was: another file
    line = stream.readline(1000)
    if not line:
        return None
    return reached if is_from_line(line) else 0


def _damaged(path: Path, read: int) -> TapestryError:
    where = f" after its message {read}; the messages before that were taken in"
    return TapestryError(
        f"{path} is damaged or cut short{where if read else ', and no message of it can be read'}.",
        hint="Fetch the file again and ingest it again: nothing will be there twice.",
    )


def _unreadable(path: Path, error: Exception) -> TapestryError:
    if isinstance(error, FileNotFoundError):
        return TapestryError(
            f"There is no file or directory {path}.", hint="Check the name and the directory."
        )
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return TapestryError(
        f"{path} cannot be read: {reason}.", hint="Check that it is whole and yours to read."
    )
