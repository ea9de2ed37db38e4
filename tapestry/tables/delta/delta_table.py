"""Open a Delta table with delta-rs: create it, check that it can be read and written as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import DiskFullError, is_disk_full
from tapestry.tables.delta.draft import create_log
from tapestry.tables.delta.log_check import check_log
from tapestry.tables.rows import arrow_schema, bounded

MAKE_ROOM = "Make room on the disk, or make the directory yours to write; then run it again."

_WRITER_FEATURES = {"appendOnly", "invariants"}
_OLDEST_FEATURES_BY_NAME = 7
"""The writer version from which on a table names its features one by one."""


def open_table(path: Path, table: str) -> DeltaTable:
    """Open the newest version of a table, and create the table if there is none.

    Raise TapestryError if Tapestry did not make the table, if it needs features (deletion vectors,
    column mapping, …) that are not honoured, or has columns of a newer version.
    """
    hint = "Check that the data directory exists, is whole and is yours to write."
    with explained(f"The table {path} cannot be opened", hint):
        check_log(path)
        if not DeltaTable.is_deltatable(str(path)):
            _create(path, table)
        opened = DeltaTable(str(path))
    _check(opened, table, path)
    return opened


@contextmanager
def explained(failure: str, hint: str = MAKE_ROOM) -> Iterator[None]:
    """Raise errors of Delta and of the disk as a TapestryError that says what failed, and why."""
    try:
        yield
    except (DeltaError, OSError) as error:
        if is_disk_full(error):
            raise DiskFullError from error
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise TapestryError(f"{failure}: {reason}", hint=hint) from error


def _create(path: Path, table: str) -> None:
    columns = ",".join(bounded(table))
    settings = {"delta.appendOnly": "true", "delta.dataSkippingStatsColumns": columns}
    create_log(path, table, arrow_schema(table), settings)


def _check(opened: DeltaTable, table: str, path: Path) -> None:
    protocol = opened.protocol()
    by_name = protocol.min_writer_version >= _OLDEST_FEATURES_BY_NAME
    unwritable = set(protocol.writer_features or ()) - _WRITER_FEATURES
    if protocol.min_writer_version > 2 and not by_name:
        unwritable.add(f"writer version {protocol.min_writer_version}")
    for features, verb in ((set(protocol.reader_features or ()), "read"), (unwritable, "write")):
        if features:
            raise TapestryError(
                f"The table {path} needs {', '.join(sorted(features))}, "
                f"which Tapestry cannot {verb}.",
                hint="Rewrite the table without these Delta features, or import its mail anew.",
            )
    present, known = pa.schema(opened.schema().to_arrow()).names, arrow_schema(table).names
    if missing := [name for name in known if name not in present]:
        raise TapestryError(
            f"The table {path} has no column {', '.join(missing)}.",
            hint="It was not made by Tapestry; choose another data directory.",
        )
    if later := [name for name in present if name not in known]:  # compaction would drop them
        raise TapestryError(
            f"The table {path} has the column {', '.join(later)}, "
            "which this version does not know.",
            hint="A newer Tapestry has added it: run that one.",
        )
