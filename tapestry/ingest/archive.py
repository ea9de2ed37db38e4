"""Mail in files: mboxes (packed or not), Maildirs, directories and single messages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import IO

from tapestry.core.errors import TapestryError
from tapestry.ingest.mbox import BROKEN_STREAM, entries, is_from_line, open_archive
from tapestry.ingest.source import CursorOf, Item, Source
from tapestry.tables.append import Cursor

_HEADER = re.compile(
    rb"^(?:From|To|Date|Subject|Message-ID|Received|Return-Path|Delivered-To|MIME-Version|"
    rb"Content-Type|Newsgroups|Path|Reply-To|Sender)[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)
_FINGERPRINT = 256
_CHUNK = 1024 * 1024


class Kind(Enum):
    """What a file's first bytes say it holds."""

    MBOX = "mbox"
    MESSAGE = "message"
    EMPTY = "empty"
    OTHER = "other"


def open_archive_source(what: str, audience: str, cursor_of: CursorOf) -> Source:
    """Open a file or directory of mail; an mbox goes on from its cursor.

    Raises TapestryError if there is nothing to read there, or no mail.
    """
    path = Path(what).expanduser().absolute()
    try:
        if path.is_dir():
            return _directory(path, audience, cursor_of)
        kind = kind_of(path)
        if kind is Kind.MBOX:
            items = _mbox(path, audience, cursor_of)
            return Source(path.name, items, lambda: count_messages(path))
        if kind is Kind.MESSAGE:
            return Source(path.name, _files([path]), lambda: 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if kind is Kind.EMPTY:
        raise TapestryError(f"{what} is empty.", hint="Give a file that holds mail.")
    raise TapestryError(
        f"{what} is neither an mbox nor a message.",
        hint="Give an mbox (.gz, .bz2, .xz too), a Maildir, a .eml file, or a directory of these.",
    )


def kind_of(path: Path) -> Kind:
    """Return what a file holds, by its first bytes, unpacked."""
    try:
        with open_archive(path) as stream:
            head = stream.read(4096)
    except BROKEN_STREAM:
        return Kind.OTHER
    head = head.lstrip(b"\r\n")
    if not head:
        return Kind.EMPTY
    if head.startswith(b"From "):
        return Kind.MBOX
    if path.suffix.lower() == ".eml":
        return Kind.MESSAGE
    block = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").partition(b"\n\n")[0]
    return Kind.MESSAGE if _HEADER.search(block) and b"\0" not in block else Kind.OTHER


def count_messages(path: Path) -> int | None:
    """Return about how many messages an mbox holds (From lines); None if it is damaged."""
    count, last = 1, b""
    try:
        with open_archive(path) as stream:
            while chunk := stream.read(_CHUNK):
                count += (last + chunk).count(b"\nFrom ")
                last = (last + chunk)[-5:]
    except BROKEN_STREAM:
        return None
    return count


def _directory(path: Path, audience: str, cursor_of: CursorOf) -> Source:
    if (path / "cur").is_dir() or (path / "new").is_dir():
        files = [*_sorted_files(path / "new"), *_sorted_files(path / "cur")]
        return Source(path.name, _files(files), lambda: len(files))
    mboxes: list[Path] = []
    messages: list[Path] = []
    for file in _sorted_files(path):
        kind = kind_of(file)
        if kind is Kind.MBOX:
            mboxes.append(file)
        elif kind is Kind.MESSAGE:
            messages.append(file)
    if not mboxes and not messages:
        raise TapestryError(
            f"The directory {path} holds no mail.",
            hint="Give a Maildir, or a directory with .eml files or mboxes in it.",
        )

    def total() -> int | None:
        counts = [count_messages(file) for file in mboxes]
        return None if None in counts else len(messages) + sum(count or 0 for count in counts)

    def items() -> Iterator[Item]:
        yield from _files(messages)
        for file in mboxes:
            yield from _mbox(file, audience, cursor_of)

    return Source(path.name, items(), total)


def _sorted_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )


def _files(files: list[Path]) -> Iterator[Item]:
    for file in files:
        try:
            with open_archive(file) as stream:
                yield Item(stream.read())
        except FileNotFoundError:
            continue  # a Maildir's reader has renamed it meanwhile; the next pull finds it
        except (OSError, *BROKEN_STREAM) as error:
            raise _unreadable(file, error) from error


def _mbox(path: Path, audience: str, cursor_of: CursorOf) -> Iterator[Item]:
    """Yield an mbox's messages from where its cursor stands.

    The cursor is an offset into the unpacked stream of an archive known by its path and
    its first bytes.  If no message starts there (the file was rewritten, or its end was
    half a message then), it is read from its start: what is known is not added again.
    """
    read = 0
    try:
        with open_archive(path) as stream:
            mark = hashlib.blake2b(stream.read(_FINGERPRINT), digest_size=8).hexdigest()
            source = f"mbox:{path}#{mark}@{audience}"
            stored = cursor_of(source)
            reached = stored.version if stored else 0
            start = _resume_at(stream, reached)
            if start is None:
                return
            for entry in entries(stream, start):
                # A last message without a line's end may be half written: not passed by.
                whole = entry.raw.endswith(b"\n") or not entry.raw
                cursor = Cursor(source, entry.end) if whole and entry.end > reached else None
                yield Item(entry.raw, source, cursor)
                read += 1
    except BROKEN_STREAM as error:
        raise TapestryError(
            f"{path} is damaged or cut short after its message {read}; "
            "the messages before that were taken in.",
            hint="Fetch the file again and ingest it again: nothing will be there twice.",
        ) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _resume_at(stream: IO[bytes], reached: int) -> int | None:
    """Return where to read on: at the cursor, at the start, or nowhere if nothing is new."""
    if not reached:
        return 0
    stream.seek(reached - 1)
    if not stream.read(1):
        return 0  # shorter than it was: another file
    line = stream.readline(1000)
    if not line:
        return None
    return reached if is_from_line(line) else 0


def _unreadable(path: Path, error: Exception) -> TapestryError:
    if isinstance(error, FileNotFoundError):
        return TapestryError(
            f"There is no file or directory {path}.", hint="Check the name and the directory."
        )
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return TapestryError(
        f"{path} cannot be read: {reason}.", hint="Check that it is whole and yours to read."
    )
