"""Read single messages, cards and annotations: what a page shows, without Spark.

Everything is restricted to the reader's audiences.  A message that is there for several of
them is shown as it first became visible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.log import Part, Tables, parts_of
from tapestry.tables.rows import (
    AnnotationRow,
    MessageRow,
    annotation_row,
    arrow_schema,
    message_row,
)


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows of a message."""

    msgid: str
    ts: int
    date: int | None
    sender: str | None
    sender_name: str | None
    subject: str | None


CARD = ("msgid", "ts", "date", "sender", "sender_name", "subject")


def message(tables: Tables, msgid: str, audiences: Collection[str]) -> MessageRow | None:
    """Return a message if one of the audiences may see it, else None."""
    parts = parts_of(tables.open(MESSAGES))
    places = lookup(parts, MESSAGES, "msgid", [msgid], audiences, ("ts", "audience"))
    if not places:
        return None
    first = places[0]
    # The bodies of one append are unpacked, not those of the whole table.
    exact = (pc.field("ts") == first["ts"]) & (pc.field("audience") == first["audience"])
    found = _scan(
        [part for part in parts if part.min_ts <= first["ts"] <= part.max_ts],
        MESSAGES,
        exact & (pc.field("msgid") == msgid),
        None,
    )
    return message_row(found[0])


def cards(tables: Tables, msgids: Iterable[str], audiences: Collection[str]) -> dict[str, Card]:
    """Return what a list shows of each message that one of the audiences may see."""
    parts = parts_of(tables.open(MESSAGES))
    found: dict[str, Card] = {}
    for row in lookup(parts, MESSAGES, "msgid", msgids, audiences, CARD):
        found.setdefault(row["msgid"], Card(**row))
    return found


def annotations_on(
    tables: Tables, msgids: Iterable[str], audiences: Collection[str]
) -> list[AnnotationRow]:
    """Return the annotations of these messages that one of the audiences may see, oldest first."""
    parts = parts_of(tables.open(ANNOTATIONS))
    columns = tuple(arrow_schema(ANNOTATIONS).names)
    return [
        annotation_row(row)
        for row in lookup(parts, ANNOTATIONS, "msgid", msgids, audiences, columns)
    ]


def lookup(
    parts: Iterable[Part],
    table: str,
    column: str,
    values: Iterable[str],
    audiences: Collection[str],
    columns: Iterable[str],
) -> list[dict[str, Any]]:
    """Return the rows whose ``column`` is among ``values``, seen by ``audiences``, oldest first."""
    wanted = pa.array(sorted(set(values)), type=pa.string())
    if not len(wanted):
        return []
    mine = pa.array(sorted(audiences), type=pa.string())
    condition = pc.field(column).isin(wanted) & pc.field("audience").isin(mine)
    names = list(columns)
    rows = _scan(parts, table, condition, [*names, *({"ts", "audience"} - set(names))])
    rows.sort(key=lambda row: (row["ts"], row["audience"]))
    return [{name: row[name] for name in names} for row in rows]


def _scan(
    parts: Iterable[Part], table: str, condition: pc.Expression, columns: list[str] | None
) -> list[dict[str, Any]]:
    paths = [part.path for part in parts]
    if not paths:
        return []
    data = ds.dataset(paths, format="parquet", schema=arrow_schema(table))
    rows: list[dict[str, Any]] = data.to_table(columns=columns, filter=condition).to_pylist()
    return rows
