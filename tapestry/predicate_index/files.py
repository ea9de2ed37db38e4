"""The files of a table of the predicate index: written in one commit, found, and verified."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.tables.delta.commit import CHECKPOINT_EVERY, try_checkpoint
from tapestry.tables.delta.data_files import statistics
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.draft import Draft, create_log
from tapestry.tables.delta.log_check import check_log, newest_version
from tapestry.tables.delta.log_entry import remove_action
from tapestry.tables.delta.log_state import log_state
from tapestry.tables.delta.parquet_file import verify_whole, write_parquet

ROW_GROUP = 1 << 20
"""Entries of a row group: they are read together."""

TEXTS = ("signature", "constants", "audiences", "extractor", "token", "text")
"""Columns that are written with a dictionary."""


def write_rows(path: Path, rows: pa.Table, instead_of: Sequence[str] = ()) -> None:
    """Append rows to a table, or put them in the place of files, in one commit.

    Each gets a ``ts``, by which the log has its files in order.
    """
    now = wall_clock()
    rows = rows.append_column("ts", pa.array([now] * rows.num_rows, pa.int64()))
    with explained(f"Filters cannot be entered in {path}"):
        if not (path / "_delta_log").is_dir():
            create_log(path, path.name, rows.schema, {})
        version = newest_version(path) + 1
        with Draft(path) as draft:
            file = write_parquet(path, rows, ROW_GROUP, TEXTS)
            draft.add(file, statistics(rows.num_rows, {"ts": (now, now)}), data_change=True)
            draft.actions += [
                remove_action(path, name, Path(name).stat().st_size) for name in instead_of
            ]
            if not draft.commit(version, {"operation": "WRITE"}):
                raise TapestryError(
                    f"Another process enters filters in {path} at the same time.",
                    hint="Run one Tapestry on a data directory.",
                )
    if version % CHECKPOINT_EVERY == 0:
        try_checkpoint(path)


def files_of(path: Path) -> tuple[str, ...]:
    """Return the files of the newest version of a table, the oldest first."""
    if not (path / "_delta_log").is_dir():
        return ()
    _, data_files = log_state(str(path)).refresh(lambda: DeltaTable(str(path)))
    return tuple(data_file.path for data_file in data_files)


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
