"""The manifest of a backup, backup.json: what each file must be.  It is read as a stranger's.

    {"format": 1, "made": "2026-11-23T12:00:00+00:00", "rows": {"messages": 21},
     "files": {"tables/messages/0.parquet": {"bytes": 4711, "sha256": "9f86…"}}}

`manage.py restore` believes nothing of it before all of it is read: a name leads nowhere but into
the backup, and into a new data directory.
"""

from __future__ import annotations

import json
import re
import stat
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from filters.site.work.crypto.encryption import KEY_FILE
from filters.site.work.restoring import LATER
from filters.upkeep.database_copy import NAMES
from tapestry.core.errors import TapestryError
from tapestry.core.files.durable import whole_file

MANIFEST = "backup.json"
FORMAT = 1
KEYS = ("secret.key", KEY_FILE, "vapid.key")
TABLES = "tables"

_CHECKSUM = re.compile("[0-9a-f]{64}")


class _ManifestError(Exception):
    """What is wrong in a manifest, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What a file of a backup must be: its size in bytes, and its SHA-256 in hexadecimal."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """When a backup was made (ISO), the rows of each table, and its files by relative path."""

    made: str
    rows: dict[str, int]
    files: dict[str, FileEntry]

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.bytes for file in self.files.values())

    @property
    def database(self) -> str:
        """Return the name of the copy of the database."""
        return next(name for name in NAMES.values() if name in self.files)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest of a backup into its directory."""
    with whole_file(directory / MANIFEST) as file:
        file.write(json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1).encode())


def read_manifest(source: Path) -> Manifest:
    """Read the manifest of a backup, and look at the kind and the size of each of its files.

    Raises TapestryError, with one sentence, if there is none, or anything in it is wrong.
    """
    path = source / MANIFEST
    try:
        manifest = _manifest(json.loads(path.read_bytes().decode()))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise TapestryError(
            f"{source} is no backup: it has no {MANIFEST}.",
            hint="Name a directory that manage.py backup has made.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "it is not JSON in UTF-8") from error
    except _ManifestError as error:
        raise _damaged(path, str(error)) from error
    for name, file in manifest.files.items():
        _check_file(source, name, file)
    return manifest


def changed(path: Path) -> TapestryError:
    """Return the error that a file of a backup is not what its manifest says."""
    return TapestryError(
        f"{path} is missing, or not as it was written.",
        hint="The backup is damaged: restore another one.",
    )


def _damaged(path: Path, reason: str) -> TapestryError:
    return TapestryError(
        f"{path} cannot be read: {reason}.",
        hint="It is damaged, or of a newer version of Tapestry: restore another backup, or use "
        "the version that made it.",
    )


def _manifest(content: Any) -> Manifest:
    wanted = _object(content, "it")
    if wanted.get("format") is True or wanted.get("format") != FORMAT:
        raise _ManifestError(f"its format is not {FORMAT}")
    made = wanted.get("made")
    if not isinstance(made, str) or not _is_instant(made):
        raise _ManifestError("“made” is not an instant")
    rows = _object(wanted.get("rows"), "“rows”")
    for table, number in rows.items():
        _number(number, f"the number of rows of {table!a}")
    files = {
        _name(name): _file(name, file)
        for name, file in _object(wanted.get("files"), "“files”").items()
    }
    if sum(name in files for name in NAMES.values()) != 1:
        raise _ManifestError(f"it names not one of {' and '.join(NAMES.values())}")
    return Manifest(made, rows, files)


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _file(name: str, content: Any) -> FileEntry:
    entry = _object(content, f"what it says of {name}")
    size, checksum = entry.get("bytes"), entry.get("sha256")
    if not isinstance(checksum, str) or not _CHECKSUM.fullmatch(checksum):
        raise _ManifestError(f"the checksum of {name} is no SHA-256")
    return FileEntry(_number(size, f"the size of {name}"), checksum)


def _name(name: str) -> str:
    """Return the name of a file if a backup may have one of it, at the same place."""
    first, *others = name.split("/")
    known = first == TABLES if others else first in {*NAMES.values(), *KEYS, LATER}
    if not (known and name.isprintable() and not {"", ".", ".."}.intersection(others)):
        raise _ManifestError(f"it names a file that no backup has, {name!a}")
    return name


def _object(content: Any, what: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise _ManifestError(f"{what} is no object")
    return content


def _number(content: Any, what: str) -> int:
    if type(content) is not int or content < 0:
        raise _ManifestError(f"{what} is not a number from 0")
    return content


def _check_file(source: Path, name: str, expected: FileEntry) -> None:
    """Raise TapestryError unless there is such a file, which no symbolic link leads to."""
    path = source
    try:
        for part in name.split("/"):
            path /= part
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode):
                raise TapestryError(
                    f"{path} is a symbolic link, which no backup has.",
                    hint="Restore another backup, or copy this one again, with its files.",
                )
    except OSError as error:
        raise changed(source / name) from error
    if not stat.S_ISREG(found.st_mode) or found.st_size != expected.bytes:
        raise changed(source / name)
