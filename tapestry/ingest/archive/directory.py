"""The messages of a directory of files, one or a few in each, and how far they were ingested.

    files in order ─> messages │ mboxes, each with its cursor │ mboxes of a single message

Messages of many files come in one append, also those whose first line is that of an mbox: to
append each by itself took most of the time.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from tapestry.core.errors import TapestryError
from tapestry.ingest.archive.mbox import entries, open_archive
from tapestry.ingest.large_message import MessageBytes, RawMessage
from tapestry.ingest.stream import CursorOf, Item, Resumed
from tapestry.tables.write.append import Cursor

FEW = 2000
"""Files from which on a directory has a cursor: fewer are one append, or are soon read again."""

_LARGEST_MESSAGE = 32 * 1024 * 1024
"""Bytes of a file with a From line that may be a single message; a larger one is an mbox."""

_HEAD = 4096

_MOST_NAMED = 5
"""Files that are named in an error, at most."""

Read = Callable[[Path], MessageBytes | None]
"""Return what a file holds, unpacked, None if it is gone; TapestryError if it cannot be read."""


def sorted_files(path: Path) -> list[Path]:
    """Return the files below a directory, except those hidden or still being delivered."""
    return sorted(
        file
        for file in path.rglob("*")
        if file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and not (file.parent.name == "tmp" and (file.parent.parent / "cur").is_dir())
    )


def is_single_message(path: Path) -> bool:
    """Return whether a file that begins with a From line holds one message only."""
    with open_archive(path) as stream:
        content = stream.read(_LARGEST_MESSAGE + 1)
    if len(content) > _LARGEST_MESSAGE:
        return False
    return b"\nFrom " not in content or len(list(islice(entries(io.BytesIO(content)), 2))) == 1


def read_messages(
    name: str,
    files: Sequence[Path],
    audience: str,
    cursor_of: CursorOf,
    resumed: Resumed,
    read: Read,
    failures: list[TapestryError],
) -> Iterator[Item]:
    """Yield the messages of files, of many files from where the cursor of their name stands.

    The cursor is the number of the files ingested, in their order, with a hash of their names
    and contents.  If one of them has changed, all are read: stored messages are not added again.
    What is wrong with single files is added to ``failures``.
    """
    source = f"{name}@{audience}" if len(files) > FEW else ""
    stored = cursor_of(source) if source else None
    reached = stored.version if stored else 0
    begin, seen = 0, _Seen()
    if stored and reached <= len(files):
        for file in files[:reached]:
            seen.add(file, _content(file, read, []))
        if seen.number == stored.content:
            begin = reached
            resumed.messages += reached
        else:
            seen = _Seen()
    for count, file in enumerate(files[begin:], start=begin + 1):
        content = _content(file, read, failures)
        seen.add(file, content)
        cursor = Cursor(source, count, seen.number) if source and count > reached else None
        messages = [] if content is None else list(_messages(content, source))
        yield from messages[:-1]
        yield replace(messages[-1] if messages else Item(None, source), cursor=cursor)


def read_all(readers: Iterable[Iterator[Item]], failures: list[TapestryError]) -> Iterator[Item]:
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


class _Seen:
    """A hash of the names and contents of files."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=8)

    def add(self, file: Path, content: MessageBytes | None) -> None:
        """Add a file; its content is None if it cannot be read."""
        name = os.fsencode(file)
        length = -1 if content is None else content.length
        self._hash.update(b"%d %d " % (len(name), length) + name)
        self._hash.update(b"" if content is None else content.raw)

    @property
    def number(self) -> int:
        """A number of 63 bits for all that was added."""
        return int.from_bytes(self._hash.digest(), "big") >> 1


def _content(file: Path, read: Read, failures: list[TapestryError]) -> MessageBytes | None:
    try:
        return read(file)
    except TapestryError as error:
        failures.append(error)
        return None


def _messages(content: MessageBytes, source: str) -> Iterator[Item]:
    raw = content.raw
    if content.size is None and raw[:_HEAD].lstrip(b"\r\n").startswith(b"From "):
        yield from (Item(RawMessage(entry.raw), source) for entry in entries(io.BytesIO(raw)))
    else:
        yield Item(RawMessage(raw, content.size), source)
