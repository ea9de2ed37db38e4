"""Formats in which a filter's list is saved: Maildir, mbox, JSON lines, public-inbox.

Source: maildir(5), mbox(5) (mboxrd).
"""

from __future__ import annotations

import fcntl
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from tapestry.client.site import Site
from tapestry.core.files.durable import sync_directory, sync_file, whole_file

Step = dict[str, Any]
"""A message that came into a list, as the API has it."""

_FROM = re.compile(rb"^(?=>*From )", re.MULTILINE)


class Store(Protocol):
    """A directory in a format."""

    def content(self, site: Site, msgid: str) -> bytes:
        """Return what the store has of a message."""

    def add(self, step: Step, content: bytes) -> str:
        """Add a message; return where it is, from the directory on."""

    def end(self) -> str:
        """Have all that was added on the disk; return where the store ends."""

    def end_at(self, end: str) -> None:
        """Let go what was added after an end."""


class Originals:
    """Messages as they came."""

    def content(self, site: Site, msgid: str) -> bytes:
        return site.original(msgid)


class Maildir(Originals):
    """A file for each message, by its id: one that was added before is there already."""

    def __init__(self, place: Path) -> None:
        self._place = place
        for part in ("tmp", "new", "cur"):
            (place / part).mkdir(exist_ok=True)
        files = (file for part in ("new", "cur") for file in (place / part).iterdir())
        self._there = {file.name.partition(":")[0] for file in files}

    def add(self, step: Step, content: bytes) -> str:
        name = f"{sha256(step['id'].encode()).hexdigest()[:32]}.tapestry"
        if name not in self._there:
            with whole_file(self._place / "tmp" / name) as letter:
                letter.write(content)
            (self._place / "tmp" / name).replace(self._place / "new" / name)
        return name

    def end(self) -> str:
        sync_directory(self._place / "new")
        return ""

    def end_at(self, end: str) -> None:
        """Let nothing go: what is added again has the same name."""


class _OneFile(ABC):
    """A file to which messages are appended."""

    name: str
    begins: bytes
    """The bytes with which a message of it begins."""

    def __init__(self, place: Path) -> None:
        self._path = place / self.name
        self._path.touch()

    def add(self, step: Step, content: bytes) -> str:
        with self._path.open("ab") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            file.write(self.framed(step, content))
        return self.name

    @abstractmethod
    def framed(self, step: Step, content: bytes) -> bytes:
        """Return a message as the file has it."""

    def end(self) -> str:
        sync_file(self._path)
        return str(self._path.stat().st_size)

    def end_at(self, end: str) -> None:
        """Truncate the file, unless another program has written it anew meanwhile."""
        with self._path.open("rb+") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            file.seek(int(end))
            if file.read(len(self.begins)) == self.begins:
                file.truncate(int(end))


class Mbox(Originals, _OneFile):
    """A file ``mbox``, in which a line ``From`` of a text has ``>`` before it (mboxrd)."""

    name = "mbox"
    begins = b"From "

    def framed(self, step: Step, content: bytes) -> bytes:
        at = datetime.fromisoformat(step["received"]).ctime()
        end = b"\n" if content.endswith(b"\n") else b"\n\n"
        return f"From tapestry {at}\n".encode() + _FROM.sub(b">", content) + end


class JsonLines(_OneFile):
    """A file ``messages.jsonl``, of messages as the API has them, one a line."""

    name = "messages.jsonl"
    begins = b"{"

    def content(self, site: Site, msgid: str) -> bytes:
        return json.dumps(site.get("message", id=msgid), ensure_ascii=False).encode()

    def framed(self, step: Step, content: bytes) -> bytes:
        return content + b"\n"


KINDS: dict[str, Callable[[Path], Store]] = {
    "maildir": Maildir,
    "mbox": Mbox,
    "jsonl": JsonLines,
}
"""The formats of files by their names."""
