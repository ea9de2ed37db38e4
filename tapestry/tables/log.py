"""The append-only logs, in the table format Delta: opened, checked, resolved to data files.

A snapshot is the data files of one version of each log.  Files are immutable, so that a run
reads its snapshot with snapshot isolation, while appends and compaction go on (optimistic
concurrency is Delta's: a commit is the next entry of the log, or fails).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.rows import arrow_schema


@dataclass(frozen=True, slots=True)
class DataFile:
    """One immutable Parquet file of a version; ``path`` is absolute, ``ts`` in its bounds."""

    path: str
    rows: int
    min_ts: int
    max_ts: int
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of one resolved version of each table, oldest rows first.

    ``root`` is the directory of the tables and their index; None where there is no index.
    """

    messages: tuple[DataFile, ...]
    annotations: tuple[DataFile, ...]
    root: Path | None = None

    def data_files(self, table: str) -> tuple[DataFile, ...]:
        """Return the files of ``messages`` or ``annotations``."""
        return self.messages if table == MESSAGES else self.annotations


class Tables:
    """The tables under one directory; each is created when it is first opened.

    ``root`` is the directory that holds ``messages/`` and ``annotations/``, and the only state:
    any number of threads and processes may have such an object.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root).absolute()

    def open(self, table: str) -> DeltaTable:
        """Open the newest version of a table, and create the table if there is none.

        Raise TapestryError if Tapestry did not make the table, or if it needs reader features
        (deletion vectors, column mapping, …) that are not honoured.
        """
        path = self.root / table
        hint = "Check that the data directory exists, is whole and is yours to write."
        with explained(f"The table {path} cannot be opened", hint):
            if not DeltaTable.is_deltatable(str(path)):
                _create(path, table)
            opened = DeltaTable(str(path))
        _check(opened, table, path)
        return opened


@contextmanager
def explained(failure: str, hint: str) -> Iterator[None]:
    """Raise errors of Delta and of the disk as a TapestryError that says what failed, and why."""
    try:
        yield
    except (DeltaError, OSError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise TapestryError(f"{failure}: {reason}", hint=hint) from error


def _create(path: Path, table: str) -> None:
    path.mkdir(parents=True, exist_ok=True)
    settings = {"delta.appendOnly": "true", "delta.dataSkippingStatsColumns": "ts"}
    schema = arrow_schema(table)
    try:
        DeltaTable.create(str(path), schema, mode="ignore", name=table, configuration=settings)
    except DeltaError:
        # Another process may have created it at the same moment.
        if not DeltaTable.is_deltatable(str(path)):
            raise


def data_files_of(table: DeltaTable) -> tuple[DataFile, ...]:
    """Return the files of an opened version, oldest rows first, from the log's statistics."""
    root = Path(unquote(urlsplit(table.table_uri).path))
    actions = pa.table(table.get_add_actions(flatten=True)).to_pydict()
    if not actions["path"]:
        return ()
    data_files: list[DataFile] = []
    columns = ("path", "num_records", "min.ts", "max.ts", "size_bytes")
    for path, rows, low, high, size in zip(*(actions[name] for name in columns), strict=True):
        if rows is None or low is None or high is None:
            raise TapestryError(
                f"The log of {root} holds no statistics for {path}.",
                hint="Commit files with their row count and the bounds of ts.",
            )
        data_files.append(DataFile(str(root / path), rows, low, high, size))
    return tuple(sorted(data_files, key=attrgetter("min_ts", "max_ts", "path")))


def snapshot(tables: Tables) -> Snapshot:
    """Resolve both tables to the files of their newest versions.

    Rows newer than a run's ``until`` may be among them: the run restricts ``ts`` itself.
    """
    messages, annotations = (data_files_of(tables.open(name)) for name in (MESSAGES, ANNOTATIONS))
    return Snapshot(messages, annotations, tables.root)


def newest_instant(*opened: DeltaTable) -> int:
    """Return the newest ``ts`` in the opened logs, BEGINNING if they hold no row.

    It is that of the files' statistics, which outlive old log entries; the ``tapestry.ts`` of a
    commit is for people to read.
    """
    data_files = chain.from_iterable(map(data_files_of, opened))
    return max((data_file.max_ts for data_file in data_files), default=BEGINNING)


def _check(opened: DeltaTable, table: str, path: Path) -> None:
    protocol = opened.protocol()
    features = set(protocol.reader_features or ())
    if protocol.min_reader_version == 2:
        features.add("columnMapping")
    if features:
        raise TapestryError(
            f"The table {path} needs {', '.join(sorted(features))}, which Tapestry cannot read.",
            hint="Rewrite the table without these Delta features, or import its mail anew.",
        )
    present = set(pa.schema(opened.schema().to_arrow()).names)
    missing = [name for name in arrow_schema(table).names if name not in present]
    if missing:
        raise TapestryError(
            f"The table {path} has no column {', '.join(missing)}.",
            hint="It was not made by Tapestry; choose another data directory.",
        )
