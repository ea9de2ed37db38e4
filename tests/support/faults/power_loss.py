"""What a directory may be after power loss: only what was synced is certain (POSIX fsync).

    program ─ recorded_files.c ─> records ─ cut at a random point ─> disk ─> directory

All else since was kept or dropped by chance: each sector of a write, each change of a file's
size, each name that was made, moved or removed.  Nothing of a file is certain without its name.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
"""Bytes that a disk writes as a whole."""

SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)

_HEAD = struct.Struct("<BQqII")


@dataclass(frozen=True, slots=True)
class Record:
    """An operation, as recorded_files.c describes it."""

    kind: str
    inode: int
    offset: int
    content: bytes
    other: bytes


@dataclass(eq=False, slots=True)
class File:
    """What of a file is on the disk, and what was done to it since."""

    content: bytearray = field(default_factory=bytearray)
    unsynced: list[Record] = field(default_factory=list)
    mode: int = 0o600


@dataclass(eq=False, slots=True)
class Directory:
    """A directory; what it holds is in the changes of names."""

    mode: int = 0o700


@dataclass(slots=True)
class Change:
    """Names that were given or taken, all at once: of a directory, to what; None takes it."""

    names: list[tuple[Directory, str, File | Directory | None]]
    synced: bool = False


def recording(library: Path, root: Path, log: Path) -> dict[str, str]:
    """Return the environment in which a program records what it does below a directory."""
    return {"LD_PRELOAD": str(library), "RECORDED_ROOT": str(root), "RECORDED_LOG": str(log)}


def read_records(log: Path) -> list[Record]:
    """Return what was recorded."""
    content, place, records = log.read_bytes(), 0, []
    while place < len(content):
        kind, inode, offset, one, two = _HEAD.unpack_from(content, place)
        place += _HEAD.size
        middle, place = place + one, place + one + two
        texts = content[middle - one : middle], content[middle:place]
        records.append(Record(chr(kind), inode, offset, *texts))
    return records


class Disk:
    """A disk: first what a directory has, all of it certain, then what is done to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.top = Directory()
        self.changes: list[Change] = []
        self.names: dict[tuple[Directory, str], File | Directory] = {}
        self.files: dict[int, File] = {}
        self.printed = b""
        self._take(root, self.top)

    def _take(self, path: Path, directory: Directory) -> None:
        directory.mode = path.stat().st_mode & 0o777
        for entry in sorted(path.iterdir()):
            status = entry.stat()
            node: File | Directory
            if entry.is_dir():
                node = Directory()
                self._take(entry, node)
            else:
                known = self.files.get(status.st_ino)
                node = known or File(bytearray(entry.read_bytes()), mode=status.st_mode & 0o777)
                self.files[status.st_ino] = node
            self._change([(directory, entry.name, node)], synced=True)

    def do(self, records: Iterable[Record]) -> None:
        """Have all this done."""
        for record in records:
            match record.kind:
                case "O":
                    self.files[record.inode] = file = File()
                    self._change([(*self._place(record.content), file)])
                case "W" | "T":
                    self.files[record.inode].unsynced.append(record)
                case "S":
                    file = self.files[record.inode]
                    file.content, file.unsynced = _after(file.content, file.unsynced), []
                case "D":
                    self._sync(self._directory(os.fsdecode(record.content)))
                case "M":
                    self._change([(*self._place(record.content), Directory())])
                case "U":
                    self._change([(*self._place(record.content), None)])
                case "R" | "L":
                    old, new = self._place(record.content), self._place(record.other)
                    taken = [(*old, None)] if record.kind == "R" else []
                    if old != new:
                        self._change([(*new, self.names[old]), *taken])
                case "P":
                    self.printed += record.content

    def _change(
        self, names: Sequence[tuple[Directory, str, File | Directory | None]], synced: bool = False
    ) -> None:
        self.changes.append(Change([*names], synced))
        _give(self.names, names)

    def _sync(self, directory: Directory) -> None:
        for change in self.changes:
            change.synced |= any(each is directory for each, _, _ in change.names)

    def _place(self, path: bytes) -> tuple[Directory, str]:
        parent, name = os.path.split(os.path.normpath(os.fsdecode(path)))
        return self._directory(parent), name

    def _directory(self, path: str) -> Directory:
        directory = self.top
        for name in Path(os.path.normpath(path)).relative_to(self.root).parts:
            node = self.names[directory, name]
            assert isinstance(node, Directory)
            directory = node
        return directory

    def lose_power(self, chance: random.Random, to: Path, share: float | None = None) -> None:
        """Make a directory of what may be left; ``share`` of what is not certain is kept."""
        lot = _lot(chance, chance.choice(SHARES) if share is None else share)
        kept = [change for change in self.changes if change.synced or next(lot)]
        names: dict[tuple[Directory, str], File | Directory] = {}
        for change in kept:
            _give(names, change.names)
        left: dict[Directory, list[tuple[str, File | Directory]]] = {}
        for (directory, name), node in names.items():
            left.setdefault(directory, []).append((name, node))
        written: dict[File, Path] = {}

        def write(directory: Directory, path: Path) -> None:
            path.mkdir(mode=directory.mode)
            for name, node in left.get(directory, ()):
                if isinstance(node, Directory):
                    write(node, path / name)
                elif node in written:
                    os.link(written[node], path / name)
                else:
                    written[node] = path / name
                    content = _after(node.content, _torn(node.unsynced, lot))
                    (path / name).write_bytes(content)
                    (path / name).chmod(node.mode)

        shutil.rmtree(to, ignore_errors=True)
        write(self.top, to)


def _give(
    names: dict[tuple[Directory, str], File | Directory],
    given: Iterable[tuple[Directory, str, File | Directory | None]],
) -> None:
    for directory, name, node in given:
        if node is None:
            names.pop((directory, name), None)
        else:
            names[directory, name] = node


def _lot(chance: random.Random, share: float) -> Iterator[bool]:
    """Say of each thing whether it is kept."""
    while True:
        yield chance.random() < share


def _torn(records: Iterable[Record], lot: Iterator[bool]) -> Iterator[Record]:
    """Yield what is kept of what was done to a file: whole sectors of its writes."""
    for record in records:
        if record.kind == "T":
            if next(lot):
                yield record
            continue
        begin, end = record.offset, record.offset + len(record.content)
        for sector in range(begin // SECTOR * SECTOR, end, SECTOR):
            low, high = max(begin, sector), min(end, sector + SECTOR)
            if next(lot):
                yield Record("W", 0, low, record.content[low - begin : high - begin], b"")


def _after(content: bytearray, records: Iterable[Record]) -> bytearray:
    """Return a file's bytes after this was done to it."""
    after = bytearray(content)
    for record in records:
        end = record.offset + len(record.content)
        if record.kind == "T":
            del after[end:]
        after.extend(bytes(max(0, end - len(after))))
        after[record.offset : end] = record.content
    return after
