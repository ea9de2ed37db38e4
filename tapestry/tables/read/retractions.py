"""Validity of annotations: the derived column ``retracted``, without a scan.

A retraction is a row about the same message as the annotation that it takes back.  So those that
concern some rows are found by the index of ``msgid``, in the few files that have any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.clock import NEVER
from tapestry.core.schema import ANNOTATIONS, RETRACTED, RETRACTION, RETRACTION_KEY
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.read.file_facts import facts_of
from tapestry.tables.read.find import ReadLimit, Slice, by_key, by_time, within

NEEDED = (*RETRACTION_KEY, "kind", "value", "ts")
"""The columns that tell which annotations a row takes back, and when."""


def retraction_files(data_files: Iterable[DataFile]) -> list[DataFile]:
    """Return the files of annotations that have a retraction; each is read once, a column of it."""
    return [data_file for data_file in data_files if facts_of(data_file.path).retractions]


def has_retractions(data_files: Iterable[DataFile], slices: Sequence[Slice]) -> bool:
    """Tell whether files of annotations can have a retraction whose ``ts`` is in a slice."""
    found = (facts_of(data_file.path).retractions for data_file in data_files)
    bounds = [bound for bound in found if bound is not None]
    return any(high > after and low <= last for low, high in bounds for after, last in slices)


def with_retracted(rows: pa.Table, retractions: pa.Table) -> pa.Table:
    """Return annotations with the column ``retracted``, given the retractions that concern them.

    Both have the columns ``NEEDED``; rows of other kinds among the retractions do not count.

    >>> names = ("annid", "msgid", "owner", "audience", "kind", "value", "ts")
    >>> joe = ("m", "joe", "public")
    >>> rows = [("a", *joe, "tag", "x", 1), ("b", *joe, "tag", "y", 2)]
    >>> rows += [("c", *joe, "retraction", "a", 5)]
    >>> table = pa.Table.from_pylist([dict(zip(names, row)) for row in rows])
    >>> sorted(with_retracted(table, table)["retracted"].to_pylist()) == [5, 5, NEVER]
    True
    """
    retracting = retractions.filter(pc.equal(retractions["kind"], RETRACTION))
    first = (
        retracting.select(["value", *RETRACTION_KEY[1:], "ts"])
        .rename_columns([*RETRACTION_KEY, "ts"])
        .group_by(list(RETRACTION_KEY))
        .aggregate([("ts", "min")])
    )
    joined = rows.join(first, keys=list(RETRACTION_KEY), join_type="left outer")
    is_retraction = pc.fill_null(pc.equal(joined["kind"], RETRACTION), False)
    instants = pc.fill_null(joined["ts_min"], NEVER)
    retracted = pc.if_else(is_retraction, joined["ts"], instants)
    return joined.drop_columns(["ts_min"]).append_column(RETRACTED, retracted)


def add_retracted(
    rows: pa.Table, data_files: Iterable[DataFile], root: Path | None, columns: Sequence[str]
) -> pa.Table:
    """Return columns of annotations, ``retracted`` among them, by the retractions of some files.

    The rows have the columns ``NEEDED``.
    """
    msgids = set(rows["msgid"].unique().drop_null().to_pylist())
    files = retraction_files(data_files)
    retractions = by_key(files, root, ANNOTATIONS, "msgid", msgids, NEEDED)
    return with_retracted(rows, retractions).select(list(columns))


def retracted_between(
    data_files: Iterable[DataFile],
    root: Path | None,
    slices: Sequence[Slice],
    columns: Collection[str],
    most: ReadLimit | None = None,
) -> pa.Table | None:
    """Return the annotations that were retracted in one of the slices; None if they are too many.

    Of ``columns``, ``retracted`` may be one.
    """
    files = DataFiles.of(data_files)
    new = by_time(retraction_files(files), ANNOTATIONS, slices, ["msgid", "kind"], most)
    if new is None:
        return None
    msgids = set(new.filter(pc.equal(new["kind"], RETRACTION))["msgid"].to_pylist()) - {None}
    stored = stored_columns(columns)
    rows = by_key(files, root, ANNOTATIONS, "msgid", msgids, stored)
    return within(with_retracted(rows, rows), slices, RETRACTED).select(list(columns))


def stored_columns(columns: Collection[str]) -> list[str]:
    """Return the columns to read of the table, so that ``retracted`` can be added to them.

    >>> stored_columns(["number", "retracted"])
    ['number', 'annid', 'msgid', 'owner', 'audience', 'kind', 'value', 'ts']
    """
    return [name for name in dict.fromkeys([*columns, *NEEDED]) if name != RETRACTED]
