"""Read single messages, cards and annotations: what a page shows, without Spark.

Everything is restricted to the reader's audiences.  A message that is there for several of
them is shown as it first became visible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.find import by_key, by_time
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
    places = lookup(
        parts, MESSAGES, "msgid", [msgid], audiences, ("ts", "audience"), root=tables.root
    )
    if not places:
        return None
    first = places[0]
    # The bodies of one append are unpacked, not those of the whole table.
    rows = by_time(parts, MESSAGES, [(first["ts"] - 1, first["ts"])], arrow_schema(MESSAGES).names)
    exact = (pc.field("msgid") == msgid) & (pc.field("audience") == first["audience"])
    return None if rows is None else message_row(rows.filter(exact).to_pylist()[0])


def cards(tables: Tables, msgids: Iterable[str], audiences: Collection[str]) -> dict[str, Card]:
    """Return what a list shows of each message that one of the audiences may see."""
    parts = parts_of(tables.open(MESSAGES))
    found: dict[str, Card] = {}
    for row in lookup(parts, MESSAGES, "msgid", msgids, audiences, CARD, root=tables.root):
        found.setdefault(row["msgid"], Card(**row))
    return found


def annotations_on(
    tables: Tables, msgids: Iterable[str], audiences: Collection[str]
) -> list[AnnotationRow]:
    """Return the annotations of these messages that one of the audiences may see, oldest first."""
    parts = parts_of(tables.open(ANNOTATIONS))
    columns = tuple(arrow_schema(ANNOTATIONS).names)
    rows = lookup(parts, ANNOTATIONS, "msgid", msgids, audiences, columns, root=tables.root)
    return [annotation_row(row) for row in rows]


def lookup(
    parts: Iterable[Part],
    table: str,
    column: str,
    values: Iterable[str],
    audiences: Collection[str],
    columns: Iterable[str],
    root: Path | None = None,
) -> list[dict[str, Any]]:
    """Return the rows whose ``column`` is among ``values``, seen by ``audiences``, oldest first.

    Through the index at ``root``; without one, the column is scanned.
    """
    names = list(columns)
    wanted = list(dict.fromkeys([*names, "ts", "audience"]))
    found = by_key(parts, root, table, column, set(values), wanted)
    mine = pc.is_in(found["audience"], pa.array(sorted(audiences), type=pa.string()))
    rows: list[dict[str, Any]] = found.filter(mine).to_pylist()
    rows.sort(key=lambda row: (row["ts"], row["audience"]))
    return [{name: row[name] for name in names} for row in rows]
