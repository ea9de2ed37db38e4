"""Clocks for tests: one for threads, one for processes; both roll back on an error."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tapestry.core.clock import BEGINNING


class _Held:
    def __init__(self, last: int) -> None:
        self.last = last

    def confirm(self) -> None:
        """It cannot be lost."""

    def advance(self, to: int) -> None:
        self.last = max(self.last, to)


class MemoryClock:
    """The clock of one process, kept in memory."""

    def __init__(self, last: int = BEGINNING) -> None:
        self.last = last
        self._lock = threading.Lock()

    @property
    def is_held(self) -> bool:
        return self._lock.locked()

    @contextmanager
    def lock(self) -> Iterator[_Held]:
        with self._lock:
            held = _Held(self.last)
            yield held
            self.last = held.last


class FileClock:
    """A clock that several processes share through a locked file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.touch()

    @contextmanager
    def lock(self) -> Iterator[_Held]:
        with self.path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            held = _Held(int(file.read() or BEGINNING))
            yield held
            file.seek(0)
            # One write of one length: who is killed leaves the old number or the new one.
            file.write(f"{held.last:>24}")
