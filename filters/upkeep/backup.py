"""Back up all that is stored while the site runs, and restore it elsewhere.

    database ─> tables ─> keys ─> manifest: backup.json, with the size and SHA-256 of each file

The database is copied first.  What is appended meanwhile is new to the filters of the copy, and
a source goes on after it, for its cursor is in the tables.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filters.runtime import services
from filters.runtime.encryption import KEY_FILE
from filters.upkeep.database_copy import (
    NAMES,
    check_is_empty,
    check_is_there,
    copy_database,
    restore_database,
)
from tapestry.core.durable import sync_directory, sync_file, whole_file
from tapestry.core.errors import TapestryError
from tapestry.tables.backup import copy_tables, files_kept

MANIFEST = "backup.json"
FORMAT = 1
KEYS = ("secret.key", KEY_FILE, "vapid.key")

_CHUNK = 1 << 20
DRAFT = ".unfinished"


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds: when it was made (ISO), rows by table, and its bytes."""

    made: str
    rows: dict[str, int]
    size: int


def back_up(target: Path) -> Backup:
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
        files: dict[str, dict[str, str | int]] = {}

        def copy(path: Path, to: Path) -> None:
            files[str(to.relative_to(draft))] = _copied(path, to)

        made = datetime.now(UTC).isoformat(timespec="seconds")
        database = copy_database(draft)
        files[database.name] = _measured(database)
        rows = copy_tables(tables.root, draft / "tables", copy)
        for key in KEYS:
            if (services.data() / key).exists():
                copy(services.data() / key, draft / key)
        manifest = {"format": FORMAT, "made": made, "rows": rows, "files": files}
        with whole_file(draft / MANIFEST) as file:
            file.write(json.dumps(manifest, indent=1).encode())
        for directory, _, _ in os.walk(draft):
            sync_directory(Path(directory))
        if target.exists():
            target.rmdir()
        draft.rename(target)
        sync_directory(target.parent)
    return _backup(manifest)


def restore(source: Path) -> Backup:
    """Copy a backup into the data directory and the database of the settings, both empty.

    The caller holds the data directory.  Raises TapestryError if a file of the backup is missing
    or changed, or if anything is stored already; then nothing is restored.
    """
    manifest = _read_manifest(source)
    data = services.data()
    draft = data / "restored"
    for path in data.iterdir():
        if path.name not in {"run", draft.name, draft.name + DRAFT}:
            raise TapestryError(
                f"Something is stored in {data} already: {path.name}.",
                hint="A backup is restored into an empty directory: name another with --data DIR.",
            )
    check_is_empty()
    with _draft(draft):
        for name, expected in manifest["files"].items():
            to = draft / name
            to.parent.mkdir(parents=True, exist_ok=True)
            if not (source / name).is_file() or _copied(source / name, to) != expected:
                raise TapestryError(
                    f"{source / name} is missing, or not as it was written.",
                    hint="The backup is damaged: restore another one.",
                )
        restore_database(next(draft / name for name in NAMES.values() if (draft / name).exists()))
        for path in draft.iterdir():
            path.rename(data / path.name)
        sync_directory(data)
    return _backup(manifest)


def _backup(manifest: dict[str, Any]) -> Backup:
    size = sum(file["bytes"] for file in manifest["files"].values())
    return Backup(manifest["made"], manifest["rows"], size)


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


def _copied(path: Path, to: Path) -> dict[str, str | int]:
    """Copy a file, with its bytes on the disk when this returns; return its size and SHA-256."""
    with path.open("rb") as file, to.open("wb") as copy:
        shutil.copyfileobj(file, copy, _CHUNK)
        copy.flush()
        os.fsync(copy.fileno())
    return _measured(to)


def _measured(path: Path) -> dict[str, str | int]:
    sync_file(path)
    with path.open("rb") as file:
        return {
            "bytes": path.stat().st_size,
            "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
        }


def _read_manifest(source: Path) -> dict[str, Any]:
    path = source / MANIFEST
    manifest: dict[str, Any] = {}
    try:
        manifest = json.loads(path.read_bytes())
        known = manifest["format"] == FORMAT and isinstance(manifest["files"], dict)
    except FileNotFoundError as error:
        raise TapestryError(
            f"{source} is no backup: it has no {MANIFEST}.",
            hint="Name a directory that manage.py backup has made.",
        ) from error
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise TapestryError(
            f"{path} cannot be read: it is damaged, or of a newer version of Tapestry.",
            hint="Restore another backup, or use the version that made it.",
        )
    root = source.resolve()
    if not all((root / name).resolve().is_relative_to(root) for name in manifest["files"]):
        raise TapestryError(
            f"{path} names files outside the backup.", hint="Restore another backup."
        )
    return manifest
