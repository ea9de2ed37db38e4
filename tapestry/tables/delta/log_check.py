"""Check a log before delta-rs reads it: the last checkpoint, and each entry after it.

delta-rs takes an empty entry for none, and gives an older version.  What is damaged or missing is
written again from its mirror.  What was checked is checked again only if it was changed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from deltalake import DeltaTable

from tapestry.core.files.damage import DamagedFileError, mended
from tapestry.core.files.durable import whole_file
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.mirror import (
    mirror_of,
    mirrors_of,
    read_mirror,
    renew,
    write_again,
    write_mirror,
)
from tapestry.core.files.site_lock import site_lock
from tapestry.tables.delta.log_entry import entry_path, read_entry

_ENTRY = re.compile(r"\d{20}\.json")
CHECKPOINT = re.compile(r"\d{20}\.checkpoint\.parquet")
POINTER = "_last_checkpoint"


def check_log(root: Path) -> None:
    """Check what is needed of a table's log, and mend it; DamagedFileError if that cannot be."""
    directory = root / "_delta_log"
    if not (directory.is_dir() or mirrored(root)):
        return
    directory.mkdir(exist_ok=True)
    _check_checkpoint(root)
    while True:
        begin = newest_checkpoint(root)
        _restore_missing(root, begin)
        versions = entries(root, begin)
        gap = next((low + 1 for low, high in pairwise(versions) if high > low + 1), None)
        if gap is None:
            break
        if begin == newest_checkpoint(root):  # else old entries were deleted meanwhile
            raise DamagedFileError(entry_path(root, gap), "it is missing")
    for version in versions:
        with suppress(FileNotFoundError):
            status = entry_path(root, version).stat()
            _check_entry(root, version, status.st_ino, status.st_mtime_ns, status.st_size)


def checkpoints(root: Path) -> list[Path]:
    """Return the checkpoints of a log, the newest first."""
    found = (path for path in _names(root) if CHECKPOINT.fullmatch(path.name))
    return sorted(found, reverse=True)


def entries(root: Path, begin: int = 0) -> list[int]:
    """Return the versions from ``begin`` on that have an entry, in order."""
    found = (version_of(path) for path in _names(root) if _ENTRY.fullmatch(path.name))
    return sorted(version for version in found if version >= begin)


def newest_version(root: Path) -> int:
    """Return the newest version of a log, as the names of its files say."""
    return max([*entries(root), newest_checkpoint(root)])


def make_checkpoint(root: Path) -> int:
    """Make a checkpoint of the newest version, and return that.

    What is needed from the checkpoint before on has mirrors then; what is older is deleted.
    """
    check_log(root)
    directory = root / "_delta_log"
    with _changing(root):
        version, before = newest_version(root), newest_checkpoint(root)
        has_one = checkpoint_path(root, version).exists()
        written = {} if has_one else _checkpoint(root, before, version)
        for name in written:
            mirror_of(directory / name).unlink(missing_ok=True)
        for name, content in written.items():
            with whole_file(directory / name) as file:
                file.write(content)
        for name, content in written.items():
            write_mirror(directory / name, content)
        for mirror in (mirror_of(entry_path(root, number)) for number in entries(root, before)):
            if not mirror.exists():
                with suppress(FileNotFoundError):
                    renew(mirror)
        _drop_history(root, before)
    return version


def _checkpoint(root: Path, before: int, version: int) -> dict[str, bytes]:
    """Return a checkpoint of a version, and the pointer to it, by their names.

    delta-rs writes them without a sync, so it does beside the log: in the log, a power failure
    could leave one that has its name and is not whole.
    """
    directory, scratch = root / "_delta_log", root / "_checkpoint"
    log, newest = scratch / "_delta_log", checkpoint_path(root, before)
    shutil.rmtree(scratch, ignore_errors=True)  # of who was killed
    log.mkdir(parents=True)
    try:
        if newest.exists():
            shutil.copyfile(newest, log / newest.name)
        for number in entries(root, before):
            if number <= version:
                name = entry_path(root, number).name
                os.link(directory / name, log / name)
        DeltaTable(str(scratch)).create_checkpoint()
        names = (checkpoint_path(root, version).name, POINTER)
        return {name: (log / name).read_bytes() for name in names}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def drop_history(root: Path, version: int) -> None:
    """Delete the entries and checkpoints of a log from before a version that has a checkpoint."""
    with _changing(root):
        _drop_history(root, version)


def _drop_history(root: Path, version: int) -> None:
    # The oldest first: who knows of an entry that is there also sees those after it.
    for path in (*mirrored(root), *sorted(_names(root))):
        number = path.name.partition(".")[0]
        if number.isdigit() and int(number) < version:
            path.unlink(missing_ok=True)


def _changing(root: Path) -> AbstractContextManager[bool]:
    """Hold what only one may hold who makes, mends or deletes the checkpoints of a log."""
    return site_lock(root / "_checkpoint.lock", wait=FOREVER)


def checkpoint_path(root: Path, version: int) -> Path:
    """Return the file of the checkpoint of a version."""
    return root / "_delta_log" / f"{version:020}.checkpoint.parquet"


def pointed_at(root: Path) -> int | None:
    """Return the version of the last checkpoint, as the log's pointer has it; None without one.

    Raises DamagedFileError if the pointer cannot be read, or leads to no checkpoint.
    """
    path = root / "_delta_log" / POINTER
    try:
        version = json.loads(path.read_bytes())["version"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(path, "it is cut short or no longer JSON") from error
    if not (isinstance(version, int) and checkpoint_path(root, version).exists()):
        raise DamagedFileError(path, "it names a checkpoint that is not there")
    return version


def newest_checkpoint(root: Path) -> int:
    """Return the version of the newest checkpoint, 0 without one."""
    newest = checkpoints(root)
    return version_of(newest[0]) if newest else 0


def _check_checkpoint(root: Path) -> None:
    """Check the newest checkpoint and the pointer to it.

    What looks damaged may be about to be written: it is mended if it still does when nobody is.
    """
    if not (_damaged_checkpoints(root) or damaged_pointer(root) or _without_mirror(root)):
        return
    with _changing(root):
        for path, (reason, content) in _damaged_checkpoints(root).items():
            write_again(path, content, reason)
        if error := damaged_pointer(root):
            # A hint: the log is read without it, or with an older one.
            pointer = Path(error.path)
            pointer.unlink(missing_ok=True)
            mirror_of(pointer).unlink(missing_ok=True)
            mended(error.path, error.reason, "deleted; it is made anew with the next checkpoint")
        for path in _without_mirror(root):
            write_mirror(path, path.read_bytes())


def _damaged_checkpoints(root: Path) -> dict[Path, tuple[str, bytes]]:
    """Return the checkpoints that are not as their mirrors, with why and what they should be."""
    damaged = {}
    for mirror in mirrored(root):
        path = root / "_delta_log" / mirror.name
        content = read_mirror(path) if CHECKPOINT.fullmatch(mirror.name) else None
        if content is not None:
            try:
                if not _agrees(path, content):
                    damaged[path] = "it is not what was written", content
            except FileNotFoundError:
                damaged[path] = "it is missing", content
    return damaged


def damaged_pointer(root: Path) -> DamagedFileError | None:
    """Return what is wrong with the pointer to the last checkpoint."""
    pointer = root / "_delta_log" / POINTER
    content = read_mirror(pointer)
    try:
        pointed_at(root)
        if content is not None and not _agrees(pointer, content):
            raise DamagedFileError(pointer, "it is not what was written")
    except FileNotFoundError:
        return DamagedFileError(pointer, "it is missing")
    except DamagedFileError as error:
        return error
    return None


def _without_mirror(root: Path) -> list[Path]:
    """Return the newest checkpoint if it has no mirror: it is whole, for it has its name."""
    return [path for path in checkpoints(root)[:1] if not mirror_of(path).exists()]


def _agrees(path: Path, content: bytes) -> bool:
    return path.stat().st_size == len(content) and path.read_bytes() == content


def _restore_missing(root: Path, begin: int) -> None:
    """Write entries again that have a mirror only."""
    for mirror in mirrored(root):
        path = root / "_delta_log" / mirror.name
        if _ENTRY.fullmatch(path.name) and version_of(path) >= begin and not path.exists():
            content = read_mirror(path)
            if content is not None and version_of(path) >= newest_checkpoint(root):
                write_again(path, content, "it is missing")


@lru_cache(maxsize=8192)
def _check_entry(root: Path, version: int, inode: int, changed: int, size: int) -> None:
    read_entry(root, version)
    path = entry_path(root, version)
    content = path.read_bytes()
    if read_mirror(path) != content:
        write_mirror(path, content)


def mirrored(root: Path) -> list[Path]:
    """Return the mirrors of the entries and checkpoints of a log, the oldest first."""
    paths = mirrors_of(root / "_delta_log").glob("[0-9]*.*")
    return sorted(path for path in paths if path.suffix in (".json", ".parquet"))


def version_of(path: Path) -> int:
    """Return the version that a file of a log is named after.

    >>> version_of(Path("00000000000000000100.checkpoint.parquet"))
    100
    """
    return int(path.name.partition(".")[0])


def _names(root: Path) -> Iterable[Path]:
    directory = root / "_delta_log"
    return list(directory.iterdir()) if directory.is_dir() else ()
