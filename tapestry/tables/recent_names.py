"""The names in the newest mail, for completion: newsgroups, lists and people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from tapestry.core.schema import MESSAGES
from tapestry.tables.data_files import DataFile
from tapestry.tables.hash_runs import text_array
from tapestry.tables.log import Tables

MOST_FILES = 100
"""Files that are read at most: before compaction there is one for each append."""

_COLUMNS = ["newsgroups", "list", "sender", "sender_name", "audience"]


@dataclass(frozen=True, slots=True)
class Names:
    """Newsgroups, lists, and people as (address, name, perhaps empty), the most frequent first."""

    newsgroups: tuple[str, ...]
    lists: tuple[str, ...]
    people: tuple[tuple[str, str], ...]


def recent_names(
    tables: Tables, audiences: Collection[str], rows: int = 10_000, most: int = 500
) -> Names:
    """Return up to ``most`` names of each kind that these audiences may see in the newest mail.

    Reads about ``rows`` rows, in whole row groups, and five small columns of them.
    """
    groups: Counter[str] = Counter()
    lists: Counter[str] = Counter()
    people: Counter[str] = Counter()
    names: dict[str, str] = {}
    for batch in _newest(tables.data_files(MESSAGES), rows):
        visible = batch.filter(pc.is_in(batch["audience"], text_array(audiences)))
        groups.update(pc.list_flatten(visible["newsgroups"]).to_pylist())
        lists.update(filter(None, visible["list"].to_pylist()))
        senders = visible["sender"].to_pylist()
        people.update(filter(None, senders))
        for sender, name in zip(senders, visible["sender_name"].to_pylist(), strict=True):
            if sender and name:
                names.setdefault(sender, name)
    frequent = _frequent(people, most)
    people_with_names = tuple((sender, names.get(sender, "")) for sender in frequent)
    return Names(_frequent(groups, most), _frequent(lists, most), people_with_names)


def _newest(data_files: Iterable[DataFile], rows: int) -> Iterator[Any]:
    """Yield row groups of the newest files until ``rows`` rows have been read."""
    newest = sorted(data_files, key=lambda data_file: data_file.max_ts, reverse=True)
    for data_file in newest[:MOST_FILES]:
        with pq.ParquetFile(data_file.path) as file:
            for number in reversed(range(file.num_row_groups)):
                if rows <= 0:
                    return
                rows -= file.metadata.row_group(number).num_rows
                yield file.read_row_group(number, columns=_COLUMNS)


def _frequent(counts: Counter[str], most: int) -> tuple[str, ...]:
    return tuple(name for name, _ in counts.most_common(most))
