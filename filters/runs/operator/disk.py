"""Room on the disk of the data directory, and what takes it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filters.site.work.parts import services
from tapestry.core.files.disk_space import reserve
from tapestry.tables.delta.log import snapshot


@dataclass(frozen=True, slots=True)
class Part:
    """Files of one kind in the data directory: bytes, and rows where they have any."""

    name: str
    bytes: int
    rows: int | None


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of the disk; below ``reserve`` free ones, mail and filters wait."""

    total: int
    free: int
    reserve: int
    parts: Sequence[Part]

    @property
    def is_full(self) -> bool:
        return self.free <= self.reserve

    @property
    def used_part(self) -> int:
        """Return how much of the disk is taken, in percent."""
        return round(100 * (self.total - self.free) / self.total) if self.total else 0


def disk() -> Disk:
    """Return the room there is; the files are those of the newest versions of the tables."""
    data = services.data()
    usage = shutil.disk_usage(data)
    files = snapshot(services.tables())
    parts = [
        Part(name, sum(file.bytes for file in of_table), sum(file.rows for file in of_table))
        for name, of_table in (
            ("Messages", files.messages),
            ("Votes and tags", files.annotations),
        )
    ]
    database = [_size(data / f"db.sqlite3{suffix}") for suffix in ("", "-wal")]
    if any(database):
        parts.append(Part("Database (people, filters, matches)", sum(database), None))
    return Disk(usage.total, usage.free, reserve(), parts)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
