"""Which rows are new: the deduplication of an append."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from tapestry.core.schema import MESSAGES
from tapestry.tables.log import parts_of


def unseen(log: DeltaTable, table: str, rows: pa.Table) -> pa.Table:
    """Return the rows whose key is not in the log, nor earlier in ``rows``, in their order.

    The key of a message is its Message-ID and audience, of an annotation its annid.  Only
    the key columns of the log are read, and only where a key can be.
    """
    columns = ["msgid", "audience"] if table == MESSAGES else ["annid"]
    keys = list(zip(*(rows.column(name).to_pylist() for name in columns), strict=True))
    paths = [part.path for part in parts_of(log)]
    seen: set[tuple[str, ...]] = set()
    if paths and keys:
        wanted = pa.array({key[0] for key in keys}, type=pa.string())
        found = ds.dataset(paths, format="parquet").to_table(
            columns=columns, filter=pc.field(columns[0]).isin(wanted)
        )
        seen.update(zip(*(found.column(name).to_pylist() for name in columns), strict=True))
    fresh = []
    for key in keys:
        fresh.append(key not in seen)
        seen.add(key)
    return rows.filter(pa.array(fresh, type=pa.bool_()))
