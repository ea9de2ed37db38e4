"""The original bytes of messages, in a log of their own beside their rows.

They are committed just before the rows, under the same lock and with the same ``ts``.  A crash
between the two commits leaves an original without a row, which no lookup finds; the repeated
batch appends both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tapestry.core.message import LARGEST
from tapestry.tables.delta.log import Tables
from tapestry.tables.find import equal
from tapestry.tables.read import Copy
from tapestry.tables.rows import ORIGINALS, arrow_schema, clean


@dataclass(frozen=True, slots=True)
class Original:
    """A message as it was received, and the problems of parsing it."""

    raw: bytes
    problems: tuple[str, ...] = ()


def originals_to_arrow(rows: pa.Table, originals: Sequence[Original]) -> pa.Table:
    """Return the originals of rows of the messages table, with the ``ts`` of the rows."""
    schema = arrow_schema(ORIGINALS)
    raws, problems = [], []
    for message in originals:
        large = len(message.raw) > LARGEST
        raws.append(b"" if large else message.raw)
        problems.append([*map(clean, message.problems), *(["too large to keep"] if large else [])])
    columns = {name: rows[name] for name in ("msgid", "ts", "audience")}
    return pa.table(columns | {"problems": problems, "raw": raws}, schema=schema)


def original(tables: Tables, msgid: str, copy: Copy) -> Original | None:
    """Return a copy of a message as it was received; None if its original is not stored."""
    row = _find_row(tables, msgid, copy, ["problems", "raw"])
    return None if row is None else Original(row["raw"], tuple(row["problems"] or ()))


def problems_of(tables: Tables, msgid: str, copy: Copy) -> tuple[str, ...] | None:
    """Return the problems of parsing a message; None if its original is not stored."""
    row = _find_row(tables, msgid, copy, ["problems"])
    return None if row is None else tuple(row["problems"] or ())


def _find_row(tables: Tables, msgid: str, copy: Copy, columns: list[str]) -> dict[str, Any] | None:
    wanted = {"ts": copy.ts, "msgid": msgid, "audience": copy.audience}
    rows = equal(tables.data_files(ORIGINALS), ORIGINALS, wanted, columns).to_pylist()
    return rows[0] if rows else None
