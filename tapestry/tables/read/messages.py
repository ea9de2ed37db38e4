"""Read single messages, cards and annotations: what a page shows, without Spark.

All results are restricted to the reader's audiences.  A message has a copy for each audience,
and the copies may differ: anybody may publish a message with the Message-ID of a private one.
By default the narrowest copy is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from operator import itemgetter
from typing import Any

import pyarrow as pa

from tapestry.core.message import width
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.identity.content import message_id_of
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Snapshot, Tables
from tapestry.tables.read.file_facts import facts_of
from tapestry.tables.read.find import by_key, equal
from tapestry.tables.rows import (
    AnnotationRow,
    MessageRow,
    annotation_row,
    arrow_schema,
    message_row,
)


@dataclass(frozen=True, slots=True)
class Card:
    """The line of a list about a message."""

    msgid: str
    ts: int
    received: int
    date: int | None
    sender: str | None
    sender_name: str | None
    subject: str | None


CARD = tuple(column.name for column in fields(Card))


def card_of(row: Mapping[str, Any]) -> Card:
    """Return the card of a row of the messages table."""
    return Card(*(row[name] for name in CARD))


@dataclass(frozen=True, slots=True)
class Copy:
    """The copy of a message for one audience: its instants, and the files of the snapshot."""

    audience: str
    ts: int
    received: int
    data_files: tuple[DataFile, ...] = field(repr=False, compare=False)


def copies(tables: Tables, msgid: str, audiences: Collection[str]) -> list[Copy]:
    """Return the copies of a message that one of the audiences may see, the narrowest first."""
    data_files = tables.data_files(MESSAGES)
    columns = ("audience", "ts", "received")
    rows = lookup(tables, MESSAGES, "msgid", [msgid], audiences, columns, data_files)
    return [Copy(**row, data_files=data_files) for row in narrowest_first(rows)]


def narrowest_first(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with an audience each, the narrowest audience first.

    >>> rows = [{"audience": audience} for audience in ("public", "group:parc", "user:terry")]
    >>> [row["audience"] for row in narrowest_first(rows)]
    ['user:terry', 'group:parc', 'public']
    """
    return sorted(rows, key=lambda row: width(row["audience"]))


def narrowest_by_msgid(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the row of each message with the narrowest audience, by msgid.

    >>> rows = [{"msgid": "a@x", "audience": audience} for audience in ("public", "user:terry")]
    >>> narrowest_by_msgid(rows)["a@x"]["audience"]
    'user:terry'
    """
    return {row["msgid"]: row for row in reversed(narrowest_first(rows))}


def message(tables: Tables, msgid: str, audiences: Collection[str]) -> MessageRow | None:
    """Return the narrowest copy of a message that one of the audiences may see, else None."""
    visible = copies(tables, msgid, audiences)
    return read_copy(msgid, visible[0]) if visible else None


def read_copy(msgid: str, copy: Copy) -> MessageRow | None:
    """Return a copy of a message, None if there is none after all."""
    wanted = {
        "ts": copy.ts,
        "received": copy.received,
        "msgid": msgid,
        "audience": copy.audience,
    }
    for row in equal(copy.data_files, MESSAGES, wanted, arrow_schema(MESSAGES).names).to_pylist():
        return message_row(row)
    return None


def cards(tables: Tables, msgids: Iterable[str], audiences: Collection[str]) -> dict[str, Card]:
    """Return what a list shows of each message that one of the audiences may see."""
    rows = lookup(tables, MESSAGES, "msgid", msgids, audiences, (*CARD, "audience"))
    return {msgid: card_of(row) for msgid, row in narrowest_by_msgid(rows).items()}


def same_message_id(
    tables: Tables, keys: Iterable[str], audiences: Collection[str]
) -> dict[str, list[Card]]:
    """Return, for each message of these, the others that have its Message-ID, oldest first.

    They say something else (tapestry.identity).  Only those with others are in the result; of
    each the copy is the narrowest that one of the audiences may see.
    """
    wanted = list(dict.fromkeys(keys))
    msgids = {message_id_of(key) for key in wanted}
    columns = (*CARD, "audience")
    rows = lookup(tables, MESSAGES, "msgid", msgids, audiences, columns, with_copies=True)
    by_key = {msgid: card_of(row) for msgid, row in narrowest_by_msgid(rows).items()}
    by_msgid: dict[str, list[Card]] = {}
    for card in sorted(by_key.values(), key=lambda card: (card.ts, card.msgid)):
        by_msgid.setdefault(message_id_of(card.msgid), []).append(card)
    others = {
        key: [card for card in by_msgid.get(message_id_of(key), ()) if card.msgid != key]
        for key in wanted
    }
    return {key: cards for key, cards in others.items() if cards}


def annotations_on(
    tables: Tables, msgids: Iterable[str], audiences: Collection[str]
) -> list[AnnotationRow]:
    """Return the annotations of these messages that one of the audiences may see, oldest first."""
    return _annotations(tables, "msgid", msgids, audiences)


def annotations_by(tables: Tables, owner: str, audiences: Collection[str]) -> list[AnnotationRow]:
    """Return the annotations of a person that one of the audiences may see, oldest first."""
    return _annotations(tables, "owner", [owner], audiences)


def _annotations(
    tables: Tables, column: str, values: Iterable[str], audiences: Collection[str]
) -> list[AnnotationRow]:
    columns = arrow_schema(ANNOTATIONS).names
    rows = lookup(tables, ANNOTATIONS, column, values, audiences, columns)
    return list(map(annotation_row, rows))


def lookup(
    tables: Tables,
    table: str,
    column: str,
    values: Iterable[str],
    audiences: Collection[str],
    columns: Iterable[str],
    data_files: Iterable[DataFile] | None = None,
    *,
    with_copies: bool = False,
) -> list[dict[str, Any]]:
    """Return the rows whose ``column`` is among ``values``, seen by ``audiences``, oldest first.

    ``data_files`` are those of a snapshot, by default of the newest: if one of these was deleted
    since, with what was forgotten, the rows are looked up again.  ``with_copies`` as in
    ``tapestry.tables.read.find``.
    """
    names, keys = list(columns), set(values)
    wanted = list(dict.fromkeys([*names, "ts", "audience"]))

    def read(files: Iterable[DataFile]) -> pa.Table:
        return by_key(
            files, tables.root, table, column, keys, wanted, audiences, with_copies=with_copies
        )

    try:
        visible = read(tables.data_files(table) if data_files is None else data_files)
    except FileNotFoundError:
        if data_files is not None:
            raise
        visible = read(tables.data_files(table))
    rows = sorted(visible.to_pylist(), key=itemgetter("ts", "audience"))
    return [{name: row[name] for name in names} for row in rows]


def audiences_in(snapshot: Snapshot) -> frozenset[str]:
    """Return the audiences of all rows; files are immutable, so each is read once."""
    data_files = (*snapshot.messages, *snapshot.annotations)
    return frozenset().union(*(facts_of(data_file.path).audiences for data_file in data_files))


def has_messages_for(snapshot: Snapshot, audiences: Collection[str]) -> bool:
    """Tell whether there is any message for one of these audiences; the newest are looked at first.

    Each file is read once, and those before the first that has one are not read at all.
    """
    newest_first = reversed(snapshot.messages)
    return any(not facts_of(file.path).audiences.isdisjoint(audiences) for file in newest_first)
