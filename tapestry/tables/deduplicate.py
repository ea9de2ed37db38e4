"""Deduplication: which rows of an append are new.  It makes an append idempotent."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from tapestry.core.schema import MESSAGES
from tapestry.tables.find import by_key
from tapestry.tables.log import data_files_of
from tapestry.tables.tombstones import find_tombstones


def new_row_mask(log: DeltaTable, table: str, rows: pa.Table, root: Path) -> pa.Array:
    """Return for each row whether its key is neither in the log nor earlier in ``rows``.

    The key of a message is its Message-ID and audience, of an annotation its annid.  Keys are
    looked up in the index at ``root``; only rows newer than the index are scanned.  A message
    with a tombstone is not new.
    """
    columns = ["msgid", "audience"] if table == MESSAGES else ["annid"]
    keys = list(zip(*(rows.column(name).to_pylist() for name in columns), strict=True))
    stored = by_key(data_files_of(log), root, table, columns[0], {key[0] for key in keys}, columns)
    seen = set(zip(*(stored.column(name).to_pylist() for name in columns), strict=True))
    if table == MESSAGES:
        for audience, group in groupby(sorted(keys, key=itemgetter(1)), key=itemgetter(1)):
            msgids = {msgid for msgid, _ in group}
            seen.update((msgid, audience) for msgid in find_tombstones(root, audience, msgids))
    is_new = []
    for key in keys:
        is_new.append(key not in seen)
        seen.add(key)
    return pa.array(is_new, type=pa.bool_())
