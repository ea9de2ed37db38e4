"""Bring tables of an older version to the present columns, each in one commit.

Messages of older versions have no ``received``.  It is read from their originals, or taken from
``date`` where there is none.  Each file is replaced by one that has it, as a compaction does; the
commit changes the columns of the table too, so that it is of one version or of the other.

Originals of older versions have no ``flags``: their files stay as they are, and it is null there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, Schema

from tapestry.core.errors import TapestryError
from tapestry.core.files.file_lock import FOREVER, file_lock
from tapestry.core.log import event
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.data_files import (
    UNKNOWN,
    DataFile,
    bounds_of,
    data_files_of,
    statistics,
)
from tapestry.tables.delta.delta_table import explained
from tapestry.tables.delta.draft import Draft, Outcome
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.log_entry import remove_action
from tapestry.tables.delta.parquet_file import new_parquet_file, open_parquet
from tapestry.tables.find import by_time
from tapestry.tables.rows import (
    ORIGINALS,
    REPEATING,
    arrow_schema,
    bounded,
    dated,
    row_group_rows,
)

ReceivedOf = Callable[[bytes, int], int | None]
"""Return when a message was received, given its bytes and the present; None if it does not say."""

_ADDED = {ORIGINALS: "flags", MESSAGES: "received"}
"""The columns that tables of older versions lack."""

log = logging.getLogger(__name__)


def upgrade(tables: Tables, received_of: ReceivedOf) -> bool:
    """Give the tables of an older version the present columns; return whether any was older.

    No other process may read or append meanwhile.  An interrupted upgrade of a table has changed
    nothing of it.
    """
    older = [table for table in _ADDED if _is_old(tables, table)]
    for table in older:  # originals are first: messages are dated by them
        _upgrade(tables, table, received_of)
    return bool(older)


def _upgrade(tables: Tables, table: str, received_of: ReceivedOf) -> None:
    path = tables.root / table
    start = time.perf_counter()
    hint = "Make room on the disk, or make the directory yours to write; then run it again."
    with (
        file_lock(tables.root / "compact.lock", wait=FOREVER),
        explained(f"The {table} in {path} cannot be upgraded", hint),
    ):
        if not _is_old(tables, table):
            return
        opened = DeltaTable(str(path))
        old = data_files_of(opened) if table == MESSAGES else ()
        with Draft(path) as draft:
            draft.actions.append({"metaData": _metadata(opened, table)})
            for data_file in old:
                _replace(tables, data_file, received_of, draft)
            if draft.commit(opened.version() + 1, {"operation": "UPGRADE"}) is Outcome.TAKEN:
                raise TapestryError(
                    f"Mail was appended while the {table} were upgraded.",
                    hint="Stop all other parts of Tapestry, and run it again.",
                )
    event(log, "upgrade", table=table, files=len(old), seconds=time.perf_counter() - start)


def _is_old(tables: Tables, table: str) -> bool:
    path = str(tables.root / table)
    if not DeltaTable.is_deltatable(path):
        return False
    names = pa.schema(DeltaTable(path).schema().to_arrow()).names
    return "msgid" in names and _ADDED[table] not in names


def _metadata(opened: DeltaTable, table: str) -> dict[str, Any]:
    """Return the metadata of a table with the present columns."""
    metadata = opened.metadata()
    settings = {"delta.dataSkippingStatsColumns": ",".join(bounded(table))}
    return {
        "id": str(metadata.id),
        "name": metadata.name,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": Schema.from_arrow(arrow_schema(table)).to_json(),
        "partitionColumns": [],
        "configuration": metadata.configuration | settings,
        "createdTime": metadata.created_time,
    }


def _replace(tables: Tables, data_file: DataFile, received_of: ReceivedOf, draft: Draft) -> None:
    """Write a file anew, with the column, as a part of the draft in its place."""
    schema = arrow_schema(MESSAGES)
    bounds = {"ts": (data_file.min_ts, data_file.max_ts), "received": UNKNOWN[::-1]}
    with (
        new_parquet_file(tables.root / MESSAGES, schema, REPEATING) as written,
        open_parquet(data_file.path) as file,
    ):
        for number in range(file.num_row_groups):
            rows = _with_received(tables, file.read_row_group(number), received_of, schema)
            low, high = bounds_of(MESSAGES, rows)["received"]
            before = bounds["received"]
            bounds["received"] = min(low, before[0]), max(high, before[1])
            written.writer.write_table(rows, row_group_size=row_group_rows(MESSAGES))
        stats = statistics(data_file.rows, bounds)
    draft.actions.append(remove_action(draft.root, data_file.path, data_file.bytes))
    draft.add(written.path, stats, data_change=False)


def _with_received(
    tables: Tables, rows: pa.Table, received_of: ReceivedOf, schema: pa.Schema
) -> pa.Table:
    keys = list(zip(*(rows[name].to_pylist() for name in ("msgid", "audience", "ts")), strict=True))
    instants = [ts for _, _, ts in keys]
    slices = [(min(instants, default=0) - 1, max(instants, default=0))]
    columns = ["msgid", "audience", "ts", "raw"]
    kept = by_time(tables.data_files(ORIGINALS), ORIGINALS, slices, columns)
    stored = kept.to_pylist() if kept is not None else []
    found = {
        (row["msgid"], row["audience"], row["ts"]): received_of(row["raw"], row["ts"])
        for row in stored
    }
    received = []
    for (msgid, audience, ts), date in zip(keys, rows["date"].to_pylist(), strict=True):
        at = found.get((msgid, audience, ts))
        if at is None and date is not None and 0 <= date <= ts:
            at = date
        received.append(ts if at is None else at)
    place = schema.get_field_index("received")
    rows = rows.add_column(place, schema.field("received"), pa.array(received, pa.int64()))
    return dated(rows.select(schema.names).cast(schema), instants)
