"""The names in the newest mail and annotations, for completion: people, lists, tags and so on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.data_files import DataFile
from tapestry.tables.hash_runs import text_array
from tapestry.tables.log import Tables
from tapestry.tables.parquet_file import open_parquet
from tapestry.tables.rows import arrow_schema

MOST_FILES = 100
"""Files that are read at most: before compaction there is one for each append."""

MOST_ROWS = 100_000
"""Rows of a table that are read at most, where few of them may be seen."""

_COLUMNS = {
    MESSAGES: ["newsgroups", "list", "sender", "sender_name", "audience"],
    ANNOTATIONS: ["kind", "value", "owner", "audience"],
}


@dataclass(frozen=True, slots=True)
class Names:
    """Names, the most frequent first; people as (address, name, perhaps empty).

    ``annotators`` are the users who voted on mail or tagged it.
    """

    newsgroups: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    people: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()


def recent_names(
    tables: Tables, audiences: Collection[str], rows: int = 10_000, most: int = 500
) -> Names:
    """Return up to ``most`` names of each kind that these audiences may see in what is newest.

    Reads, in whole row groups, a few small columns of each table, until there are ``rows`` rows
    that may be seen.
    """
    mail = _visible(tables, MESSAGES, audiences, rows)
    annotations = _visible(tables, ANNOTATIONS, audiences, rows)
    tagged = annotations.filter(pc.equal(annotations["kind"], "tag"))
    return Names(
        _frequent(pc.list_flatten(mail["newsgroups"]), most),
        _frequent(mail["list"], most),
        _people(mail, most),
        _frequent(tagged["value"], most),
        _frequent(annotations["owner"], most),
    )


def _visible(tables: Tables, table: str, audiences: Collection[str], rows: int) -> pa.Table:
    """Return the newest rows of a table that these audiences may see, the newest file first."""
    seen = text_array(audiences)
    columns, types = _COLUMNS[table], arrow_schema(table)
    schema = pa.schema([(name, types.field(name).type) for name in columns])
    batches = []
    for batch in _newest(tables.data_files(table), columns):
        batches.append(batch.filter(pc.is_in(batch["audience"], seen)).cast(schema))
        rows -= batches[-1].num_rows
        if rows <= 0:
            break
    return pa.concat_tables([schema.empty_table(), *batches])


def _newest(data_files: Iterable[DataFile], columns: list[str]) -> Iterator[Any]:
    """Yield row groups of the newest files until ``MOST_ROWS`` rows have been read."""
    rows = MOST_ROWS
    newest = sorted(data_files, key=lambda data_file: data_file.max_ts, reverse=True)
    for data_file in newest[:MOST_FILES]:
        with open_parquet(data_file.path) as file:
            for number in reversed(range(file.num_row_groups)):
                if rows <= 0:
                    return
                rows -= file.metadata.row_group(number).num_rows
                yield file.read_row_group(number, columns=columns)


def _people(mail: pa.Table, most: int) -> tuple[tuple[str, str], ...]:
    """Return the most frequent senders, each with its name that is met first."""
    senders = _frequent(mail["sender"], most)
    known = mail.filter(pc.is_in(mail["sender"], text_array(senders)))
    names: dict[str, str] = {}
    named = known.group_by(["sender", "sender_name"], use_threads=False).aggregate([])
    for sender, name in zip(*map(_listed, (named["sender"], named["sender_name"])), strict=True):
        if name:
            names.setdefault(sender, name)
    return tuple((sender, names.get(sender, "")) for sender in senders)


def _listed(column: Any) -> Sequence[str]:
    return column.to_pylist()  # type: ignore[no-any-return]


def _frequent(column: Any, most: int) -> tuple[str, ...]:
    """Return the most frequent texts of a column that are not empty; of equals the first met."""
    counts = [(entry["counts"], entry["values"]) for entry in pc.value_counts(column).to_pylist()]
    counted = [(count, text) for count, text in counts if text]
    return tuple(text for _, text in sorted(counted, key=lambda pair: -pair[0])[:most])
