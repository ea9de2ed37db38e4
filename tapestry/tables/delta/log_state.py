"""The newest version of a Delta log, kept in memory: only commits since the last look are read.

    first look: delta-rs ─> version, files          every other: commit 124, 125, … ─> changes

To open a table costs time for every file it has; a process that appends or reads every few
seconds would pay it each time (an incremental snapshot, as Delta's own ``DeltaLog.update``).
A commit is a file of actions, complete as soon as it has its name, and never changes.  If the
newest known one is another file than it was, the log was made anew, or damaged, and is opened
again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tapestry.tables.delta.data_files import DataFiles, data_file_of, data_files_of, root_of
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.log_entry import Action, entry_path, read_entry

_MOST_COMMITS = 500
"""Commits that are read one by one, at most."""


class LogState:
    """The state of one log as it is known; any number of threads may ask."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._opened: DeltaTable | None = None
        self._version = -1
        self._stamp: tuple[int, int] | None = None
        self._data_files = DataFiles()
        self._root = ""
        self._transactions: dict[str, int | None] = {}

    def refresh(self, open_table: Callable[[], DeltaTable]) -> tuple[int, DataFiles]:
        """Return the newest version and its files; ``open_table`` opens and checks the table.

        Raise TapestryError if the log cannot be read.
        """
        with self._lock:
            if not self._is_known():
                self._load(open_table)
            for _ in range(_MOST_COMMITS):
                actions = self._entry(self._version + 1)
                if actions is None:
                    break
                if any("metaData" in action or "protocol" in action for action in actions):
                    self._load(open_table)
                else:
                    self._apply(actions)
            else:
                self._load(open_table)  # faster, from the last checkpoint on
            if not self._is_known():
                # Old commits were deleted meanwhile: the next one too, perhaps.
                self._load(open_table)
            return self._version, self._data_files

    def transaction(self, source: str, open_table: Callable[[], DeltaTable]) -> int | None:
        """Return the version of an app transaction in the newest version, None without one."""
        with self._lock:
            self.refresh(open_table)
            if source not in self._transactions:
                opened = self._up_to_date(open_table)
                self._transactions[source] = opened.transaction_version(source)
            return self._transactions[source]

    def _load(self, open_table: Callable[[], DeltaTable]) -> None:
        opened = open_table()
        self._data_files = data_files_of(opened)
        self._root = str(root_of(opened))
        self._version = opened.version()
        self._stamp = self._stamp_of(self._version)
        self._transactions = {}
        self._opened = opened

    def _up_to_date(self, open_table: Callable[[], DeltaTable]) -> DeltaTable:
        if self._opened is not None and self._opened.version() != self._version:
            try:
                self._opened.update_incremental()
            except DeltaError:
                self._opened = None
        if self._opened is None:
            self._opened = open_table()
        return self._opened

    def _is_known(self) -> bool:
        """Return whether the newest known commit is still there, and is no other."""
        return self._stamp is not None and self._stamp == self._stamp_of(self._version)

    def _apply(self, actions: Iterable[Action]) -> None:
        added, removed = [], set()
        for action in actions:
            if "add" in action:
                added.append(data_file_of(self._root, action["add"]))
            elif "remove" in action:
                removed.add(f"{self._root}/{unquote(action['remove']['path'])}")
            elif "txn" in action:
                self._transactions[action["txn"]["appId"]] = action["txn"]["version"]
        if added or removed:
            self._data_files = self._data_files.changed(removed, added)
        self._version += 1
        self._stamp = self._stamp_of(self._version)

    def _entry(self, version: int) -> list[Action] | None:
        hint = "Check that the data directory is yours to read."
        with explained(f"Commit {version} of the log of {self.path} cannot be read", hint):
            return read_entry(Path(self.path), version)

    def _stamp_of(self, version: int) -> tuple[int, int] | None:
        try:
            status = entry_path(Path(self.path), version).stat()
        except OSError:
            return None  # to open the table again says what is wrong
        return status.st_ino, status.st_mtime_ns


@lru_cache(maxsize=32)
def log_state(path: str) -> LogState:
    """Return what this process knows of the log at an absolute path."""
    return LogState(path)
