"""The names in the newest mail and annotations, for completion: people, lists, tags and so on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import open_parquet
from tapestry.tables.keys.hash_runs import text_array
from tapestry.tables.read.file_facts import facts_of
from tapestry.tables.rows import arrow_schema, bounded

_COLUMNS = {
    MESSAGES: [
        *("newsgroups", "list", "sender", "sender_name", "audience"),
        *("to", "cc", "to_names", "cc_names"),
    ],
    ANNOTATIONS: ["kind", "value", "owner", "audience"],
}


@dataclass(frozen=True, slots=True)
class Names:
    """Names, the most frequent first; people as (address, name), one of them perhaps empty.

    ``annotators`` are the users who voted on mail or tagged it, ``recipients`` those in To and
    Cc, whose addresses and names are known apart unless they also wrote.
    """

    newsgroups: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    people: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()
    recipients: tuple[tuple[str, str], ...] = ()


def recent_names(
    tables: Tables, audiences: Collection[str], rows: int = 10_000, most: int = 500
) -> Names:
    """Return up to ``most`` names of each kind that these audiences may see in what is newest.

    Reads, in whole row groups, a few small columns of the newest ``rows`` rows of each table that
    may be seen.
    """
    mail, annotations = (
        newest_rows(tables, table, _COLUMNS[table], audiences, rows)
        for table in (MESSAGES, ANNOTATIONS)
    )
    tagged = annotations.filter(pc.equal(annotations["kind"], "tag"))
    people = _people(mail, most)
    return Names(
        _frequent(pc.list_flatten(mail["newsgroups"]), most),
        _frequent(mail["list"], most),
        people,
        _frequent(tagged["value"], most),
        _frequent(annotations["owner"], most),
        _recipients(mail, dict(people), most),
    )


def newest_rows(
    tables: Tables, table: str, names: Collection[str], audiences: Collection[str], rows: int
) -> pa.Table:
    """Return the newest ``rows`` rows of a table that these audiences may see, newest first.

    Of the columns ``names``, of which the audience is one, and those of their instants.
    Which they are, and their order, does not depend on rows that they may not see, nor on the
    files that these lie in: there is no limit on how much is passed over.
    """
    seen, instants = frozenset(audiences), bounded(table)
    columns, types = [*names, *instants], arrow_schema(table)
    schema = pa.schema([(name, types.field(name).type) for name in columns])
    found = schema.empty_table()
    oldest: tuple[int, ...] = ()  # the instants of the last row, once there are enough
    files = sorted(tables.data_files(table), key=attrgetter("max_ts"), reverse=True)
    for path in (file.path for file in files if (file.max_ts,) >= oldest[:1]):
        for number, newest in _newest_groups(path, instants):
            if newest < oldest or seen.isdisjoint(facts_of(path).audiences_by_group[number]):
                continue
            with open_parquet(path) as file:
                group = file.read_row_group(number, columns=columns).select(columns).cast(schema)
            visible = group.filter(pc.is_in(group["audience"], text_array(seen)))
            found = _newest(pa.concat_tables([found, visible]), instants).slice(0, rows)
            if found.num_rows == rows:
                oldest = tuple(found[name][-1].as_py() for name in instants)
    return found


def _newest(rows: pa.Table, instants: Sequence[str]) -> pa.Table:
    """Return rows, the newest first; those of one instant by their names.

    So only rows that are equal in all may be exchanged: the order does not depend on the files.
    """
    keys = {
        name: pc.binary_join(column, " ") if pa.types.is_list(column.type) else column
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    }
    texts = sorted(keys.keys() - set(instants), reverse=True)
    order = [*((name, "descending") for name in instants), *((name, "ascending") for name in texts)]
    return rows.take(pc.sort_indices(pa.table(keys), sort_keys=order))


def _newest_groups(path: str, instants: Sequence[str]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the row groups of a file, the last first, with upper bounds of their instants."""
    highs = [facts_of(path).bounds(name)[1].tolist() for name in instants]
    yield from reversed(list(enumerate(zip(*highs, strict=True))))


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


def _recipients(mail: pa.Table, senders: dict[str, str], most: int) -> tuple[tuple[str, str], ...]:
    """Return the most frequent addresses of To and Cc, and names that none of the senders has."""
    addresses = _frequent(_flat(mail, "to", "cc"), most)
    names = _frequent(_flat(mail, "to_names", "cc_names"), most)
    known = {senders.get(address, "") for address in addresses}
    return (
        *((address, senders.get(address, "")) for address in addresses),
        *(("", name) for name in names if name not in known),
    )


def _flat(mail: pa.Table, *columns: str) -> Any:
    return pa.chunked_array(
        [chunk for name in columns for chunk in pc.list_flatten(mail[name]).chunks], pa.string()
    )


def _listed(column: Any) -> Sequence[str]:
    return column.to_pylist()  # type: ignore[no-any-return]


def _frequent(column: Any, most: int) -> tuple[str, ...]:
    """Return the most frequent texts of a column that are not empty; of equals the first met."""
    counts = [(entry["counts"], entry["values"]) for entry in pc.value_counts(column).to_pylist()]
    counted = [(count, text) for count, text in counts if text]
    return tuple(text for _, text in sorted(counted, key=lambda pair: -pair[0])[:most])
