"""Rows given as dicts, in real tables: a window reads them as the product does."""

from tapestry.core.schema import COLUMNS
from tapestry.predicate_index.probe import SnapshotRows
from tapestry.tables.delta.commit import commit
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.rows import ordered
from tests.support.engines.memory_index import DictRows


class StoredRows:
    """Appends the rows in the order of their ``ts``, as the windows come to need them."""

    def __init__(self, data, root):
        self._data = DictRows(data)
        self._tables = Tables(root)
        self._instants = sorted({row["ts"] for rows in data.values() for row in rows})

    def up_to(self, until):
        """Return the rows up to an instant, and no later ones, as a snapshot has them."""
        while self._instants and self._instants[0] <= until:
            ts = self._instants.pop(0)
            for table, columns in COLUMNS.items():
                rows = self._data.between(table, [(ts - 1, ts)], list(columns))
                if rows.num_rows:
                    information = {"tapestry.ts": str(ts)}
                    commit(self._tables, table, ordered(table, rows), {}, information)
        return SnapshotRows(snapshot(self._tables))
