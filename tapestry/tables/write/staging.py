"""A staging area: batches of an import that no reader sees before all of it is there.

    batches ─> staging/<audience>-<import>/000000-CHECKSUM.arrow, …
            ─ publish ─> one commit, one ``ts``

A batch and its cursor are one file (Arrow IPC), whole or not there: an import that was killed
goes on from the newest staged cursor of each origin.  ``publish`` makes the rows visible.
Where a batch is damaged, all that the import staged is dropped, and it is read again.  What is
staged for an audience that is forgotten is dropped too, and its import fails if it is running.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from tapestry.core.errors import TapestryError
from tapestry.core.files.damage import DamagedFileError, mended
from tapestry.core.files.disk_space import require_room
from tapestry.core.files.durable import make_directory, remove_directory, sync_directory, sync_file
from tapestry.core.files.site_lock import site_lock
from tapestry.core.message import Message
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import checksum
from tapestry.tables.read.originals import Original, originals_to_arrow
from tapestry.tables.rows import ORIGINALS, arrow_schema, to_arrow
from tapestry.tables.write.append import Cursor, cursor_of

_BATCH = b"tapestry.batch"
_ORIGINAL = ("problems", "raw", "flags")
"""The columns of originals that messages do not have."""

_DIRECTORY = "staging"


class Staging:
    """The staged batches of one import; ``opened`` is the only way to get one.

    ``messages`` and ``broken`` count what earlier processes have staged.
    """

    def __init__(self, tables: Tables, directory: Path, audience: str) -> None:
        self.tables = tables
        self.directory = directory
        self.audience = audience
        make_directory(self.directory)
        self.cursors: dict[str, Cursor] = {}
        self.messages = self.broken = 0
        for number, batch in enumerate(self.batches()):
            try:
                if not batch.name.startswith(f"{number:06}"):
                    raise DamagedFileError(batch, "the batch before it is missing")
                verify_batch(batch)
            except DamagedFileError as error:
                self.clear()
                make_directory(self.directory)
                mended(batch, error.reason, "dropped with its import, which is read again")
                break
        for path in self.batches():
            stored = _metadata(path)
            self.messages += stored["messages"]
            self.broken += stored["broken"]
            self._note(stored["cursor"] and Cursor(**stored["cursor"]))

    @classmethod
    @contextmanager
    def opened(cls, tables: Tables, name: str, audience: str) -> Iterator[Staging]:
        """Yield the staging of what is imported for an audience, as an earlier process left it.

        Raises TapestryError if another process has it.
        """
        key = f"{_key(audience)}-{_key(f'{name}@{audience}')}"
        directory = tables.root / _DIRECTORY / key
        with (
            explained(f"Mail cannot be staged in {directory}"),
            site_lock(directory.with_suffix(".lock")) as acquired,
        ):
            if not acquired:
                raise TapestryError(
                    "The same mail is being taken in by another process.",
                    hint="Wait until it is done.",
                )
            yield cls(tables, directory, audience)

    def cursor_of(self, source: str) -> Cursor | None:
        """Return how far a source has been staged or appended."""
        return self.cursors.get(source) or cursor_of(self.tables, source)

    def batches(self) -> list[Path]:
        """Return the files of the staged batches, in their order."""
        return sorted(self.directory.glob("*.arrow"))

    @property
    def bytes(self) -> int:
        """The size of all that is staged."""
        return sum(path.stat().st_size for path in self.batches())

    def add(
        self, messages: Sequence[Message], originals: Sequence[Original], cursor: Cursor | None
    ) -> None:
        """Stage a batch; when this returns, it is on the disk.

        Raises DiskFullError before the disk is full, TapestryError if the import was dropped.
        """
        self.check_is_there()
        require_room(self.directory)
        rows = to_arrow(MESSAGES, messages)
        raw = originals_to_arrow(rows, originals)
        for name in _ORIGINAL:
            rows = rows.append_column(raw.schema.field(name), raw[name])
        stored = {
            "messages": len(messages),
            "broken": sum(bool(original.problems) for original in originals),
            "cursor": cursor and asdict(cursor),
        }
        rows = rows.replace_schema_metadata({_BATCH: json.dumps(stored)})
        number = len(self.batches())
        unfinished = self.directory / f"{number:06}.new"
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(str(unfinished), rows.schema, options=options) as writer:
            writer.write_table(rows)
        sync_file(unfinished)
        unfinished.replace(self.directory / f"{number:06}-{checksum(unfinished):08x}.arrow")
        sync_directory(self.directory)
        self._note(cursor)

    def is_dropped(self) -> bool:
        """Return whether the audience was forgotten meanwhile."""
        return not self.directory.exists()

    def check_is_there(self) -> None:
        """Raise TapestryError if the audience was forgotten meanwhile."""
        if self.is_dropped():
            raise TapestryError(
                f"The mail of {self.audience} was forgotten while it was taken in.",
                hint="Nothing of it is kept; if it is wanted, take it in again.",
            )

    def clear(self) -> None:
        """Delete what is staged: it is in the tables, or not wanted."""
        remove_directory(self.directory)
        self.cursors.clear()

    def _note(self, cursor: Cursor | None) -> None:
        if cursor is not None:
            self.cursors[cursor.source] = cursor


def verify_batch(path: Path) -> None:
    """Raise DamagedFileError if a staged batch is not as its name says."""
    if f"{checksum(path):08x}" != path.stem.partition("-")[2]:
        raise DamagedFileError(path, "its checksum does not agree")


def read_batch(path: Path) -> tuple[pa.Table, pa.Table]:
    """Return the messages of a staged batch and their originals, with a ``ts`` of 0.

    Raises DamagedFileError; the next import of the same finds it, too, and begins again.
    """
    verify_batch(path)
    with pa.memory_map(str(path)) as source:
        rows = pa.ipc.open_file(source).read_all()
    schemas = map(arrow_schema, (MESSAGES, ORIGINALS))
    messages, originals = (rows.select(schema.names).cast(schema) for schema in schemas)
    return messages, originals


def read_keys(path: Path) -> pa.Table:
    """Return the Message-IDs and audiences of a staged batch, and nothing else of it."""
    verify_batch(path)
    with pa.memory_map(str(path)) as source:
        schema = pa.ipc.open_file(source).schema
        wanted = [schema.get_field_index(name) for name in ("msgid", "audience")]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        return pa.ipc.open_file(source, options=options).read_all()


def drop_abandoned(tables: Tables, hours: float) -> None:
    """Delete what was staged more than ``hours`` ago by imports that nobody went on with."""
    for directory in (tables.root / _DIRECTORY).glob("*/"):
        with site_lock(directory.with_suffix(".lock")) as acquired:
            if acquired and time.time() - directory.stat().st_mtime > hours * 3600:
                remove_directory(directory)


def set_aside_audience(tables: Tables, audience: str) -> list[Path]:
    """Move away what is staged for an audience, by a running import too; return where it is now.

    Called under the clock's lock, and short: the caller deletes the directories after that.
    """
    moved = []
    for directory in (tables.root / _DIRECTORY).glob("*/"):
        if directory.name.startswith(f"{_key(audience)}-"):
            moved.append(directory.replace(directory.with_name(f"{uuid4().hex}.forgotten")))
    return moved


def _key(name: str) -> str:
    return blake2b(name.encode(), digest_size=12).hexdigest()


def _metadata(path: Path) -> dict[str, Any]:
    with pa.memory_map(str(path)) as source:
        stored: dict[str, Any] = json.loads(pa.ipc.open_file(source).schema.metadata[_BATCH])
    return stored
