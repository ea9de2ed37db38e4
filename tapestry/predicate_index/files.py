"""The files of a table of the predicate index: written in one commit, found, and verified."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tapestry.core.errors import TapestryError
from tapestry.tables.delta.data_files import statistics
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.draft import Draft, Outcome, create_log
from tapestry.tables.delta.log_check import check_log, make_checkpoint, newest_version
from tapestry.tables.delta.log_entry import entry_path, remove_action
from tapestry.tables.delta.parquet_file import verify_whole, write_parquet

log = logging.getLogger(__name__)

ROW_GROUP = 1 << 20
"""Entries of a row group: they are read together."""

TEXTS = ("signature", "constants", "audiences", "extractor", "token", "text")
"""Columns that are written with a dictionary."""

CHECKPOINT_EVERY = 100
"""Commits of a table after which a checkpoint is made."""


def write_rows(path: Path, rows: pa.Table, instead_of: Sequence[str] = ()) -> None:
    """Append rows to a table, or put them in the place of files, in one commit."""
    hint = "Make room on the disk, or make the directory yours to write; then run again."
    with explained(f"Filters cannot be entered in {path}", hint):
        if not (path / "_delta_log").is_dir():
            create_log(path, path.name, rows.schema, {})
        version = newest_version(path) + 1
        with Draft(path) as draft:
            file = write_parquet(path, rows, ROW_GROUP, TEXTS)
            draft.add(file, statistics(rows.num_rows, {}), data_change=True)
            draft.actions += [
                remove_action(path, name, Path(name).stat().st_size) for name in instead_of
            ]
            if draft.commit(version, {"operation": "WRITE"}) is Outcome.TAKEN:
                raise TapestryError(
                    f"Another process enters filters in {path} at the same time.",
                    hint="Run one Tapestry on a data directory.",
                )
    if version % CHECKPOINT_EVERY == 0:
        try:
            make_checkpoint(path)
        except (DeltaError, OSError) as error:
            log.warning("The log of %s gets no checkpoint: %s", path, error)


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of a Delta table: its newest commit, and its files, the oldest first."""

    commit: tuple[int, int]
    number: int
    files: tuple[str, ...]


_versions: dict[Path, _Version] = {}
"""The newest known version of each table: to open one takes tens of milliseconds."""


def files_of(path: Path) -> tuple[str, ...]:
    """Return the files of the newest version of a table, the oldest first."""
    known = _versions.get(path)
    if known is not None:
        is_newest = not entry_path(path, known.number + 1).exists()
        if is_newest and _stamp(path, known.number) == known.commit:
            return known.files
    if not DeltaTable.is_deltatable(str(path)):
        return ()
    opened = DeltaTable(str(path))
    actions = pa.table(opened.get_add_actions(flatten=True)).to_pydict()
    added = sorted(zip(actions["modification_time"], actions["path"], strict=True))
    files = tuple(str(path / name) for _, name in added)
    commit = _stamp(path, opened.version())
    if commit is not None:
        _versions[path] = _Version(commit, opened.version(), files)
    return files


def _stamp(path: Path, number: int) -> tuple[int, int] | None:
    """Return what changes if a log is made anew, None if there is no such commit."""
    try:
        status = entry_path(path, number).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def verify_table(path: Path) -> None:
    """Raise DamagedFileError if a file of a table is not as it was written.

    What was verified is verified again only if it was changed.
    """
    check_log(path)
    for file in files_of(path):
        status = Path(file).stat()
        _verify(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _verify(path: str, changed: int, size: int) -> None:
    verify_whole(path)


def forget_versions() -> None:
    """Forget what is known of all tables: they were deleted."""
    _versions.clear()
