"""The append-only logs, in the table format Delta, resolved to data files.

A snapshot is the data files of one version of each log.  Files are immutable, so that a run
reads its snapshot with snapshot isolation, while appends and compaction go on (optimistic
concurrency is Delta's: a commit is the next entry of the log, or fails).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deltalake import DeltaTable

from tapestry.core.schema import ANNOTATIONS, MESSAGES, THREADS
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.delta.delta_table import open_table
from tapestry.tables.delta.log_state import log_state


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of one resolved version of each table, oldest rows first.

    ``root`` is the directory of the tables and their index; None where there is no index.
    """

    messages: tuple[DataFile, ...]
    annotations: tuple[DataFile, ...]
    root: Path | None = None
    threads: tuple[DataFile, ...] = ()

    def data_files(self, table: str) -> tuple[DataFile, ...]:
        """Return the files of ``messages``, ``annotations`` or ``threads``."""
        if table == THREADS:
            return self.threads
        return self.messages if table == MESSAGES else self.annotations


class Tables:
    """The tables under one directory; each is created when it is first opened.

    ``root`` is the directory that holds ``messages/`` and the others, and the only state:
    any number of threads and processes may have such an object.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root).absolute()

    def open(self, table: str) -> DeltaTable:
        """Open the newest version of a table with delta-rs, and create the table if there is none.

        Raise TapestryError if Tapestry did not make the table, or if it needs features (deletion
        vectors, column mapping, …) that are not honoured.
        """
        return open_table(self.root / table, table)

    def data_files(self, table: str) -> DataFiles:
        """Return the files of the newest version, oldest rows first.

        It reads only what was committed since the last call of this process.
        """
        return self.version(table)[1]

    def version(self, table: str) -> tuple[int, DataFiles]:
        """Return the number of the newest version, and its files."""
        return log_state(str(self.root / table)).refresh(partial(self.open, table))

    def transaction(self, table: str, source: str) -> int | None:
        """Return the newest committed version of an app transaction, None if there is none."""
        state = log_state(str(self.root / table))
        return state.transaction(source, partial(self.open, table))


def snapshot(tables: Tables) -> Snapshot:
    """Resolve the tables to the files of their newest versions.

    Rows newer than a run's ``until`` may be among them: the run restricts ``ts`` itself.
    """
    messages, annotations, threads = map(tables.data_files, (MESSAGES, ANNOTATIONS, THREADS))
    return Snapshot(messages, annotations, tables.root, threads)


def newest_instant(tables: Tables) -> int:
    """Return the newest ``ts`` in the tables, BEGINNING if they hold no row.

    It is that of the files' statistics, which outlive old log entries; the ``tapestry.ts`` of a
    commit is for people to read.
    """
    return max(tables.data_files(table).newest for table in (MESSAGES, ANNOTATIONS))
