"""Messages and annotations as Arrow tables, and back; the columns are those of core/schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.message import LONGEST_TEXT, Annotation, Message
from tapestry.core.schema import (
    ANNOTATIONS,
    BOUNDED,
    COLUMNS,
    INSTANTS,
    KEY_COLUMN,
    MESSAGES,
    THREADS,
    Type,
)

ROW_GROUP = 1024
"""Rows per Parquet row group: to read one message decompresses few others."""

REPEATING = ("sender", "sender_name", "list", "source", "audience")
"""Columns with dictionary encoding: without it the others are read faster and are no larger."""

ARROW = {
    Type.TEXT: pa.string(),
    Type.SET: pa.list_(pa.string()),
    Type.INTEGER: pa.int64(),
    Type.NUMBER: pa.float64(),
    Type.INSTANT: pa.int64(),
    Type.DURATION: pa.int64(),
}


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A row of the messages table: ``ts`` is the instant it became visible."""

    ts: int
    message: Message


@dataclass(frozen=True, slots=True)
class AnnotationRow:
    """A row of the annotations table: ``ts`` is the instant it became visible."""

    ts: int
    annotation: Annotation


_LATEST = 2**62

ORIGINALS = "originals"
"""The table of messages as they were received; no filter reads it."""

ORIGINALS_GROUP = 64
"""Rows per row group of originals: one is read without unpacking many others."""

ORDER: dict[str, tuple[str, ...]] = {
    MESSAGES: ("ts", "received"),
    ANNOTATIONS: ("ts", "starts"),
    THREADS: ("ts",),
    ORIGINALS: ("ts", "msgid"),
}
"""The columns by which the rows of a file are sorted: one row is found in a few row groups."""

_TYPES = {
    table: {name: ARROW[type_] for name, type_ in columns.items()}
    for table, columns in COLUMNS.items()
}
_TYPES[ORIGINALS] = {
    "msgid": pa.string(),
    "ts": pa.int64(),
    "audience": pa.string(),
    "problems": pa.list_(pa.string()),
    "raw": pa.binary(),
    "flags": pa.list_(pa.string()),
}


def arrow_schema(table: str) -> pa.Schema:
    """Return a table's Arrow schema; key, bounded instants and ``audience`` are never null.

    Sets are lists that are never null either (Delta cannot say so of its lists alone).
    """
    required = {KEY_COLUMN.get(table, "msgid"), *bounded(table), "audience"}
    types = _TYPES[table].items()
    return pa.schema([pa.field(name, kind, nullable=name not in required) for name, kind in types])


def bounded(table: str) -> tuple[str, ...]:
    """Return the columns of a table whose bounds the log has for each file.

    >>> bounded("messages"), bounded("originals")
    (('ts', 'received'), ('ts',))
    """
    return BOUNDED.get(table, ("ts",))


def row_group_rows(table: str) -> int:
    """Return how many rows a row group of a table has."""
    return ORIGINALS_GROUP if table == ORIGINALS else ROW_GROUP


def clean(text: str) -> str:
    r"""Return text that stores can hold: no lone surrogates, no NUL, at most LONGEST_TEXT bytes.

    >>> clean("a\udc80b\0c") == "a\ufffdbc"
    True
    """
    text = text.replace("\0", "")
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        encoded = text.encode()
    return text if len(encoded) <= LONGEST_TEXT else encoded[:LONGEST_TEXT].decode(errors="ignore")


def to_arrow(table: str, items: Sequence[Message] | Sequence[Annotation]) -> pa.Table:
    """Return messages or annotations as an Arrow table with a ``ts`` of 0 in every row.

    Without ``received`` or ``starts`` a row has the latest of all instants there.
    """
    arrays = []
    for name, type_ in COLUMNS[table].items():
        values: list[Any] = [getattr(item, name, 0) for item in items]
        if type_ is Type.TEXT:
            values = [None if text is None else clean(text) for text in values]
        elif name in INSTANTS and name != "ts":
            values = [_LATEST if instant is None else instant for instant in values]
        elif type_ is Type.SET:
            values = [list(dict.fromkeys(map(clean, texts))) for texts in values]
        arrays.append(pa.array(values, type=ARROW[type_]))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(table))


def stamped(table: str, rows: pa.Table, ts: int) -> pa.Table:
    """Return the rows with ``ts`` in every row, sorted.

    >>> rows = to_arrow("annotations", [Annotation("a", "m", "joe", "note")])
    >>> stamped("annotations", rows, 7)["ts"].to_pylist()
    [7]
    """
    return ordered(table, dated(rows, [ts] * rows.num_rows))


def ordered(table: str, rows: pa.Table) -> pa.Table:
    """Return the rows of a table in the order of its files."""
    return rows.sort_by([(name, "ascending") for name in ORDER[table]])


def dated(rows: pa.Table, instants: Sequence[int]) -> pa.Table:
    """Return the rows with a ``ts`` each; none was received later, and it stands for no start.

    >>> early = Message("a@x", received=3)
    >>> dated(to_arrow("messages", [early, Message("b@x")]), [7, 7])["received"].to_pylist()
    [3, 7]
    """
    ts = pa.array(instants, type=pa.int64())
    columns = {"ts": ts}
    if "received" in rows.schema.names:
        columns["received"] = pc.min_element_wise(rows["received"], ts)
    if "starts" in rows.schema.names:
        no_start = pc.equal(rows["starts"], _LATEST)
        columns["starts"] = pc.if_else(no_start, ts, rows["starts"])
    for name, values in columns.items():
        position = rows.schema.get_field_index(name)
        rows = rows.set_column(position, rows.schema.field(position), values)
    return rows


def message_row(columns: Mapping[str, Any]) -> MessageRow:
    """Return a row of the messages table, given its columns."""
    return MessageRow(columns["ts"], Message(**_fields(MESSAGES, columns)))


def annotation_row(columns: Mapping[str, Any]) -> AnnotationRow:
    """Return a row of the annotations table, given its columns."""
    ts, fields = columns["ts"], _fields(ANNOTATIONS, columns)
    if fields["starts"] == ts:
        fields["starts"] = None
    return AnnotationRow(ts, Annotation(**fields))


def _fields(table: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(columns[name] or ()) if type_ is Type.SET else columns[name]
        for name, type_ in COLUMNS[table].items()
        if name != "ts"
    }
