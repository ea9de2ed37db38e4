"""Back up all that is stored while the site runs, and restore it elsewhere.

    database ─> tables ─> keys ─> manifest: backup.json, with the size and SHA-256 of each file

The database is copied first.  What is appended meanwhile is new to the filters of the copy, and
a source goes on after it, for its cursor is in the tables; what belongs to these is copied with
them (``later``).
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filters.site.work.parts import services
from filters.site.work.restoring import LATER
from filters.upkeep.database_copy import (
    check_is_empty,
    check_is_there,
    check_kind,
    copy_database,
    restore_database,
)
from filters.upkeep.later import write_later
from filters.upkeep.manifest import (
    KEYS,
    TABLES,
    FileEntry,
    Manifest,
    changed,
    read_manifest,
    write_manifest,
)
from tapestry.core.errors import TapestryError
from tapestry.core.files.durable import sync_directory, sync_file
from tapestry.tables.backup import copy_tables, files_kept

_CHUNK = 1 << 20
DRAFT, RESTORED = ".unfinished", "restored"


def back_up(target: Path) -> Manifest:
    """Copy all that is stored to a directory that does not exist yet, or is empty.

    It appears under its name once it is whole.  Raises TapestryError if there is something, and
    DamagedFileError if a file is damaged.
    """
    target = target.absolute()
    tables = services.tables()
    if target.is_relative_to(services.data()):
        raise TapestryError(
            f"{target} is within the data directory.", hint="Name a directory on another disk."
        )
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise TapestryError(
            f"{target} is there already, and is not empty.", hint="Name a new directory."
        )
    check_is_there()
    draft = target.with_name(target.name + DRAFT)
    tables.root.mkdir(parents=True, exist_ok=True)
    with files_kept(tables.root), _draft(draft):
        files: dict[str, FileEntry] = {}

        def copy(path: Path, to: Path) -> None:
            files[str(to.relative_to(draft))] = _copied(path, to)

        def later(draft: Path) -> None:
            files[LATER] = _synced(write_later(draft))

        made = datetime.now(UTC).isoformat(timespec="seconds")
        database = copy_database(draft)
        files[database.name] = _synced(database)
        rows = copy_tables(tables.root, draft / TABLES, copy, lambda: later(draft))
        for key in KEYS:
            if (services.data() / key).exists():
                copy(services.data() / key, draft / key)
        manifest = Manifest(made, rows, files)
        write_manifest(draft, manifest)
        for directory, _, _ in os.walk(draft):
            sync_directory(Path(directory))
        if target.exists():
            target.rmdir()
        draft.rename(target)
        sync_directory(target.parent)
    return manifest


def restore(source: Path) -> Manifest:
    """Copy a backup into the data directory and the database of the settings, both empty.

    The caller holds the data directory, and ends the restore (``later.end_restore``).  Raises
    TapestryError if the manifest is damaged, if a file of the backup is missing or changed, or if
    anything is stored already; then nothing is restored.
    """
    manifest = _restorable(source)
    data = services.data()
    draft = data / RESTORED
    with _draft(draft):
        for name, expected in manifest.files.items():
            to = draft / name
            to.parent.mkdir(parents=True, exist_ok=True)
            if _copied(source / name, to) != expected:
                raise changed(source / name)
        if LATER not in manifest.files:  # without messages, or of an older version
            (draft / LATER).write_text("[]")
        (draft / LATER).rename(data / LATER)
        sync_directory(data)
        try:
            restore_database(draft / manifest.database)
        except TapestryError:  # nothing of it is there
            (data / LATER).unlink()
            raise
        for path in draft.iterdir():
            path.rename(data / path.name)
        sync_directory(data)
    return manifest


def examine(source: Path) -> Manifest:
    """Read all of a backup that `restore` would copy; raise TapestryError where it would."""
    manifest = _restorable(source)
    for name, expected in manifest.files.items():
        if _measured(source / name) != expected:
            raise changed(source / name)
    return manifest


def _restorable(source: Path) -> Manifest:
    """Return what a backup has; raise TapestryError if it cannot be restored into what is here."""
    manifest, data = read_manifest(source), services.data()
    for path in data.iterdir() if data.exists() else ():
        if path.name not in {"run", RESTORED, RESTORED + DRAFT}:
            raise TapestryError(
                f"Something is stored in {data} already: {path.name}.",
                hint="A backup is restored into an empty directory: name another with --data DIR.",
            )
    check_is_empty()
    check_kind(Path(manifest.database))
    return manifest


@contextmanager
def _draft(path: Path) -> Iterator[None]:
    """Make an empty directory, for its owner alone; it is deleted at the end if it is there."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700, parents=True)
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
        shutil.rmtree(path, ignore_errors=True)


def _copied(path: Path, to: Path) -> FileEntry:
    """Copy a file, with its bytes on the disk when this returns; return its size and SHA-256."""
    with path.open("rb") as file, to.open("wb") as copy:
        shutil.copyfileobj(file, copy, _CHUNK)
        copy.flush()
        os.fsync(copy.fileno())
    return _synced(to)


def _synced(path: Path) -> FileEntry:
    sync_file(path)
    return _measured(path)


def _measured(path: Path) -> FileEntry:
    with path.open("rb") as file:
        return FileEntry(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())
