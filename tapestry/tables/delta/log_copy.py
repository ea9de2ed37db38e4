"""A second copy of what a Delta log needs: the newest checkpoint, and the entries from it on.

    _delta_log/0…0100.checkpoint.parquet, 0…0101.json, …   the log: written first, synced
    _log_copy/ 0…0100.checkpoint.parquet, 0…0101.json, …   the same, each with checksums

One damaged sector must not cost a table: without an entry of its log, what came later cannot be
read.  A copy is written after its file.  It need not be synced: a copy that is not whole is
written again from its file.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tapestry.core.files.checksummed_file import ChecksummedFile, write_checksummed
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.durable import whole_file

DIRECTORY = "_log_copy"
"""Beside ``_delta_log``; programs that read Delta tables ignore such names."""


def copy_path(path: Path) -> Path:
    """Return where the copy of a file of a log is."""
    return path.parent.parent / DIRECTORY / path.name


def keep(path: Path, content: bytes) -> None:
    """Keep a copy of a file of a log; without room for it there is none."""
    copy = copy_path(path)
    with suppress(OSError):
        copy.parent.mkdir(exist_ok=True)
        write_checksummed(copy, content, synced=False)


def kept(path: Path) -> bytes | None:
    """Return the content of a file of a log as its copy has it; None if that is not whole."""
    try:
        return ChecksummedFile(copy_path(path)).read().tobytes()
    except (DamagedFileError, OSError):
        return None


def restore(path: Path, content: bytes) -> None:
    """Write a file of a log, or write it again: it is whole once it has its name."""
    with whole_file(path) as file:
        file.write(content)


def copies(root: Path) -> dict[str, Path]:
    """Return the copies of the files of a table's log, by the names of the files."""
    paths = sorted((root / DIRECTORY).glob("[0-9]*.*"))
    return {path.name: path for path in paths if path.suffix in (".json", ".parquet")}


def version_of(name: str) -> int:
    """Return the version that a file of a log is named after.

    >>> version_of("00000000000000000100.checkpoint.parquet")
    100
    """
    return int(name.partition(".")[0])


def drop_before(root: Path, version: int) -> None:
    """Delete the copies of what is older than a checkpoint."""
    for name, path in copies(root).items():
        if version_of(name) < version:
            path.unlink(missing_ok=True)
