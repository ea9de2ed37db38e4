"""Mail in files: mboxes (packed or not), Maildirs, directories, archives in git, messages."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from enum import Enum
from io import BufferedIOBase
from pathlib import Path

from tapestry.core.errors import TapestryError
from tapestry.ingest.archive.directory import (
    is_single_message,
    read_all,
    read_messages,
    sorted_files,
)
from tapestry.ingest.archive.mbox import (
    BROKEN_STREAM,
    UnpacksToTooMuchError,
    entries,
    head_of,
    is_from_line,
    open_archive,
    settled_size,
)
from tapestry.ingest.archive.public_inbox import open_public_inbox, repositories
from tapestry.ingest.large_message import MessageBytes, RawMessage
from tapestry.ingest.stream import CursorOf, Item, MessageStream, Resumed
from tapestry.tables.write.append import Cursor

_HEADER = re.compile(
    rb"^(?:From|To|Date|Subject|Message-ID|Received|Return-Path|Delivered-To|MIME-Version|"
    rb"Content-Type|Newsgroups|Path|Reply-To|Sender)[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)
_FINGERPRINT = 256
_CHUNK = 1024 * 1024


class Kind(Enum):
    """The content of a file, by its first bytes."""

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
            if repos := repositories(path):
                return open_public_inbox(path, repos, audience, cursor_of)
            return _directory(path, audience, cursor_of)
        if path.exists() and not path.is_file():
            raise TapestryError(
                f"{what} is neither a file nor a directory.", hint="Write it to a file first."
            )
    except OSError as error:
        raise _unreadable(path, error) from error
    kind = kind_of(path)
    if kind is Kind.MBOX:
        resumed = Resumed()
        items = _mbox(path, audience, cursor_of, resumed)
        return MessageStream(path.name, items, lambda: count_messages(path), resumed)
    if kind is Kind.MESSAGE:
        return MessageStream(path.name, _file(path), lambda: 1)
    if kind is Kind.EMPTY:
        raise TapestryError(f"{what} is empty.", hint="Give a file that holds mail.")
    raise TapestryError(
        f"{what} is neither an mbox nor a message.",
        hint="Give an mbox (.gz, .bz2, .xz too), a Maildir, a .eml file, a directory of these, "
        "or a public-inbox.",
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
    except (UnpacksToTooMuchError, *BROKEN_STREAM):
        return None
    return count


def _directory(path: Path, audience: str, cursor_of: CursorOf) -> MessageStream:
    if (path / "cur").is_dir() or (path / "new").is_dir():
        files = [*sorted_files(path / "new"), *sorted_files(path / "cur")]
        return MessageStream(path.name, read_all(map(_file, files), []), lambda: len(files))
    by_kind: dict[Kind, list[Path]] = {kind: [] for kind in Kind}
    singles: list[Path] = []
    failures: list[TapestryError] = []
    for file in sorted_files(path):
        try:
            kind = kind_of(file)
            is_single = kind is Kind.MBOX and _is_single_message(file)
            (singles if is_single else by_kind[kind]).append(file)
        except TapestryError as error:
            failures.append(error)
    mboxes, messages = by_kind[Kind.MBOX], by_kind[Kind.MESSAGE]
    if not mboxes and not messages and not singles and not failures:
        raise TapestryError(
            f"The directory {path} holds no mail.",
            hint="Give a Maildir, or a directory with .eml files or mboxes in it.",
        )

    def total() -> int | None:
        counts = [len(messages) + len(singles), *map(count_messages, mboxes)]
        return None if None in counts else sum(filter(None, counts))

    resumed = Resumed()
    name = _text_of(path)

    def readers() -> Iterator[Iterator[Item]]:
        shared = (audience, cursor_of, resumed, _read, failures)
        yield read_messages(f"directory:{name}", messages, *shared)
        yield from (_mbox(file, audience, cursor_of, resumed) for file in mboxes)
        yield read_messages(f"directory of mboxes:{name}", singles, *shared)

    return MessageStream(path.name, read_all(readers(), failures), total, resumed)


def _text_of(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_single_message(path: Path) -> bool:
    """Return whether an mbox holds one message only; a damaged one is read as an mbox."""
    try:
        return is_single_message(path)
    except (OSError, *BROKEN_STREAM):
        return False


def _read(file: Path) -> MessageBytes | None:
    try:
        with open_archive(file, settled_size(file)) as stream:
            return MessageBytes().read_from(stream)
    except FileNotFoundError:
        return None  # a Maildir's reader has renamed it meanwhile; the next pull finds it
    except (OSError, *BROKEN_STREAM) as error:
        raise _unreadable(file, error) from error


def _file(file: Path) -> Iterator[Item]:
    content = _read(file)
    if content is not None:
        yield Item(RawMessage(content.raw, content.size))


class _Content:
    """The hash of what a stream holds, read up to where another reader is.

    ``from_lines`` is about the number of the messages.
    """

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._hash = hashlib.blake2b(digest_size=8)
        self._end = 0
        self._last = b"\n"
        self.from_lines = 0

    def up_to(self, end: int) -> int:
        """Return a number of 63 bits for all bytes before ``end``, which only grows."""
        while self._end < end and (chunk := self._stream.read(min(_CHUNK, end - self._end))):
            self._hash.update(chunk)
            self._end += len(chunk)
            joined = self._last + chunk
            self.from_lines += joined.count(b"\nFrom ")
            self._last = joined[-5:]
        return int.from_bytes(self._hash.digest(), "big") >> 1


def _mbox(path: Path, audience: str, cursor_of: CursorOf, resumed: Resumed) -> Iterator[Item]:
    """Yield an mbox's messages from where its cursor stands, and count those before.

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
            source = f"mbox:{_text_of(path)}#{fingerprint}@{audience}"
            stored = cursor_of(source)
            reached = stored.version if stored else 0
            start = _resume_at(stream, reached)
            if stored and stored.content not in (None, content.up_to(reached)):
                start = 0
                again.seek(0)
                content = _Content(again)
            if start != 0:
                resumed.messages += content.from_lines
            if start is None:
                return
            for entry in entries(stream, start):
                cursor = None
                # A last message without a line's end may be half written, by a program that
                # does not lock: the cursor stays before it.
                is_complete = entry.raw.endswith(b"\n") or not entry.raw
                if is_complete and entry.end > reached:
                    cursor = Cursor(source, entry.end, content.up_to(entry.end))
                yield Item(RawMessage(entry.raw, entry.size), source, cursor)
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
