"""A draft of an entry of a Delta log, with the files that it adds: committed for good, or deleted.

    files, actions ─> draft ─ fsync ─ link (put if absent) ─> 0…0124.json ─ fsync ─> mirror
                        │                        │
                        └── error: files deleted └── from here on nothing deletes them

An entry that is written under a lock is confirmed before its link: the lock is still held.  Who has
it next revokes entries without a link, so that a writer which was paused meanwhile cannot link its
own any more (a fence, on any number of machines).
The link is the commit.  Before it the files are let go, and they are taken back only if it is
known that there is no link: whatever fails later cannot cost rows that others see already.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import pyarrow as pa
from deltalake import Schema

from tapestry.core.files.durable import sync_directory
from tapestry.core.files.mirror import write_mirror
from tapestry.core.log import line
from tapestry.tables.delta.log_entry import Action, add_action, entry_bytes, entry_path, now_ms

log = logging.getLogger(__name__)

Confirm = Callable[[], None]
"""Raise an error if the lock under which an entry is written was lost."""


def of_nobody_else() -> None:
    """Confirm that nobody else writes."""


class Draft:
    """The entry that is to be next, and its files, which nobody reads yet.

    At the end of a ``with`` block what was not committed is deleted.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.actions: list[Action] = []
        self._files: list[Path] = []
        self._is_committed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def own(self, path: Path) -> None:
        """Let a new file belong to the draft: it is deleted unless it is committed."""
        self._files.append(path)

    def add(self, path: Path, stats: str, *, data_change: bool) -> None:
        """Let a new file, which has its name for good, become part of the table."""
        self.own(path)
        self.actions.append(add_action(path, stats, data_change=data_change))

    def removed(self) -> set[str]:
        """Return the files that it removes from the table, as the log names them."""
        return {action["remove"]["path"] for action in self.actions if "remove" in action}

    def is_whole(self) -> bool:
        """Return whether its files are there: a removal for good deletes what is in no version."""
        return all(path.exists() for path in self._files)

    def discard(self) -> None:
        """Delete the files that were not committed; one that cannot be is left to upkeep."""
        while self._files:
            with _reported("not_deleted", self._files[-1]):
                self._files.pop().unlink(missing_ok=True)

    def commit(
        self, version: int, information: Mapping[str, Any], confirm: Confirm | None = None
    ) -> bool:
        """Make the draft the entry of its log with this number; return False if there is one.

        Once it is committed it is used up.  Entry and name are then on the disk; what fails in
        that is logged, not raised.  If the number is taken the draft may have another.  Raise
        OSError if there is no entry.  With ``confirm`` whoever holds the lock next may revoke it.
        """
        if self._is_committed:
            raise RuntimeError("This draft is committed: make another.")
        path = entry_path(self.root, version)
        content = entry_bytes(self.actions, information)
        unnamed = path.with_name(f"_commit_{uuid4()}.json.tmp")
        if confirm is not None:
            unnamed = _revocable(self.root) / unnamed.name
            unnamed.parent.mkdir(self.root.stat().st_mode & 0o777, exist_ok=True)
        try:
            _write(unnamed, content)
            if confirm is not None:
                confirm()
            if not self._link(unnamed, path, content):
                return False
        finally:
            with _reported("not_deleted", unnamed):
                unnamed.unlink(missing_ok=True)
        with _reported("committed_not_synced", path):
            sync_directory(path.parent)
        with _reported("committed_without_mirror", path):
            write_mirror(path, content)
        return True

    def _link(self, unnamed: Path, path: Path, content: bytes) -> bool:
        """Give the entry its name; return False if another has it."""
        files, self._files, self._is_committed = self._files, [], True
        try:
            os.link(unnamed, path)
        except OSError as error:
            if not _is_linked(path, content):  # else the answer was lost, not the link
                self._files, self._is_committed = files, False
                if isinstance(error, FileExistsError):
                    return False
                raise
        return True


def revoke(root: Path) -> None:
    """Let no entry be committed any more that was to be under a lock which the caller holds now.

    Whoever had the lock has ended, or has lost it and does not know yet: the entry that it has
    written and not linked is deleted.  One that it has linked is there for all to see.
    """
    for unnamed in _revocable(root).glob("*.tmp"):
        unnamed.unlink(missing_ok=True)


def _revocable(root: Path) -> Path:
    return root / "_committing"


def _is_linked(path: Path, content: bytes) -> bool:
    """Tell whether an entry has its name; a client may still remember how many names it had."""
    try:
        return path.read_bytes() == content
    except FileNotFoundError:
        return False


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _reported(name: str, path: Path) -> Iterator[None]:
    """Log an error as an event, instead of raising it to somebody who would undo a commit."""
    try:
        yield
    except Exception as error:
        reason = str(error) or type(error).__name__
        log.error("%s", line(name, file=str(path), error=reason), exc_info=True)


def create_log(path: Path, name: str, schema: pa.Schema, settings: Mapping[str, str]) -> None:
    """Make the first entry of a table's log, unless another process has made it."""
    (path / "_delta_log").mkdir(parents=True, exist_ok=True)
    # Whoever made them: without these names all that is committed later would be gone.
    for directory in (path, path.parent, path.parent.parent):
        sync_directory(directory)
    metadata = {
        "id": str(uuid4()),
        "name": name,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": Schema.from_arrow(schema).to_json(),
        "partitionColumns": [],
        "configuration": settings,
        "createdTime": now_ms(),
    }
    with Draft(path) as draft:
        draft.actions.append({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})
        draft.actions.append({"metaData": metadata})
        draft.commit(0, {"operation": "CREATE TABLE"})
