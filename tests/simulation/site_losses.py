"""What a power failure takes: bytes and names of files that were not synced, by lot.

A file's bytes are safe once it is synced, its name once its directory is; before that each of them
may be on the disk or not, whatever came later.  SQLite counts as atomic at its commit.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_RENAME, _REMOVE = os.rename, os.remove  # as they are before its calls are counted

State = tuple[int, int, int]
"""A file and what is in it: its number, when it was written, its size."""


class Losses:
    """What this process wrote and has not synced; what it found as it began is safe."""

    def __init__(self, data: Path, seed: str) -> None:
        self.data, self.lots = data, random.Random(f"{seed} losses")
        self.safe = {_state(path) for path in self._files()}
        self.names: dict[Path, list[Callable[[], None]]] = {}

    def watch(self) -> None:
        """Follow all that gives, takes and syncs names and bytes from now on."""
        for name in ("link", "replace", "rename", "unlink", "fsync"):
            setattr(os, name, self._followed(name, getattr(os, name)))

    def _followed(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        take = getattr(self, f"_{name}")

        def call(*args: Any, **options: Any) -> Any:
            undo = None if options else take(*args)
            done = real(*args, **options)
            if undo is not None:
                directory = Path(args[-1]).absolute().parent
                self.names.setdefault(directory, []).append(undo)
            return done

        return call

    def _fsync(self, number: int) -> None:
        file = os.fstat(number)
        self.safe.add((file.st_ino, file.st_mtime_ns, file.st_size))
        if stat.S_ISDIR(file.st_mode):
            self.names.pop(Path(f"/proc/self/fd/{number}").readlink(), None)

    def _link(self, _: Any, to: Any) -> Callable[[], None]:
        return lambda: _REMOVE(to)

    def _unlink(self, path: Any) -> Callable[[], None]:
        return self._kept(path)

    def _rename(self, path: Any, to: Any) -> Callable[[], None]:
        before = self._kept(to)

        def undo() -> None:
            _RENAME(to, path)
            before()

        return undo

    _replace = _rename

    def _kept(self, path: Any) -> Callable[[], None]:
        """Return what brings a file back, as it is now."""
        kept = Path(path)
        if not kept.is_file():
            return lambda: None
        file, content = kept.stat(), kept.read_bytes()
        is_safe = (file.st_ino, file.st_mtime_ns, file.st_size) in self.safe

        def bring_back() -> None:
            if not kept.exists():
                kept.write_bytes(content)
                kept.chmod(stat.S_IMODE(file.st_mode))
                if is_safe:
                    self.safe.add(_state(kept))

        return bring_back

    def lose(self) -> None:
        """Lose what is not safe, each by lot: to be called as the last thing of a process."""
        for directory in sorted(self.names):
            for undo in reversed(self.names[directory]):
                if self.lots.random() < 0.5:
                    with suppress(OSError):
                        undo()
        for path in sorted(self._files()):
            state = _state(path)
            if state not in self.safe:
                os.truncate(path, self.lots.choice((0, state[2] // 2, state[2])))

    def _files(self) -> Iterator[Path]:
        for directory, _, names in os.walk(self.data):
            for name in names:
                if not name.startswith("db.sqlite3"):
                    yield Path(directory, name)


def _state(path: Path) -> State:
    file = path.stat()
    return file.st_ino, file.st_mtime_ns, file.st_size
