"""The original bytes of messages, in a log of their own beside their rows.

They are committed just before the rows, under the same lock and with the same ``ts``.  A crash
between the two commits leaves an original without a row, which no lookup finds; the repeated
batch appends both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tapestry.core.message import LARGEST
from tapestry.tables.delta.data_files import DataFile, DataFiles
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import open_parquet
from tapestry.tables.read.find import equal
from tapestry.tables.read.messages import Copy, copies
from tapestry.tables.rows import ORIGINALS, arrow_schema, clean

Place = tuple[str, str, int]
"""The key of a message, its audience and its ``ts``."""


@dataclass(frozen=True, slots=True)
class Original:
    """A message as it was received, the problems of parsing it, and its flags at the source.

    Only a message for one person has ``flags`` (tapestry.servers.imap_flags).
    """

    raw: bytes
    problems: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def originals_to_arrow(rows: pa.Table, originals: Sequence[Original]) -> pa.Table:
    """Return the originals of rows of the messages table, with the ``ts`` of the rows."""
    schema = arrow_schema(ORIGINALS)
    raws, problems = [], []
    for message in originals:
        large = len(message.raw) > LARGEST
        raws.append(b"" if large else message.raw)
        problems.append([*map(clean, message.problems), *(["too large to keep"] if large else [])])
    columns = {name: rows[name] for name in ("msgid", "ts", "audience")}
    flags = [message.flags or None for message in originals]
    columns |= {"problems": problems, "raw": raws, "flags": flags}
    return pa.table(columns, schema=schema)


def original(tables: Tables, msgid: str, copy: Copy) -> Original | None:
    """Return a copy of a message as it was received; None if its original is not stored."""
    row = _find_row(tables, msgid, copy, ["problems", "raw", "flags"])
    if row is None:
        return None
    return Original(row["raw"], tuple(row["problems"] or ()), tuple(row["flags"] or ()))


def kept_original(tables: Tables, msgid: str, audience: str) -> Original | None:
    """Return the copy of a message for an audience as it was received; None if it was not kept."""
    for copy in copies(tables, msgid, [audience]):
        stored = original(tables, msgid, copy)
        if stored is not None and stored.raw:
            return stored
    return None


def problems_of(tables: Tables, msgid: str, copy: Copy) -> tuple[str, ...] | None:
    """Return the problems of parsing a message; None if its original is not stored."""
    row = _find_row(tables, msgid, copy, ["problems"])
    return None if row is None else tuple(row["problems"] or ())


def raws_of(
    data_files: Iterable[DataFile], wanted: Collection[Place]
) -> Iterator[tuple[Place, bytes]]:
    """Yield the bytes of those originals that are stored; few are in memory at once."""
    instants = sorted({ts for _, _, ts in wanted})
    msgids = sorted({msgid for msgid, _, _ in wanted})
    names = ("msgid", "audience", "ts")
    for data_file in DataFiles.of(data_files).overlapping([(ts - 1, ts) for ts in instants]):
        with open_parquet(data_file.path, memory_map=True, pre_buffer=False) as file:
            for number in range(file.num_row_groups):
                if not _may_have(file.metadata.row_group(number), msgids):
                    continue
                columns = file.read_row_group(number, columns=list(names))
                places = list(zip(*(columns[name].to_pylist() for name in names), strict=True))
                if wanted_here := [n for n, place in enumerate(places) if place in wanted]:
                    raws = file.read_row_group(number, columns=["raw"])["raw"]
                    for row in wanted_here:
                        yield places[row], raws[row].as_py() or b""


def _may_have(group: Any, msgids: Sequence[str]) -> bool:
    """Return whether a row group may have one of these Message-IDs, which are sorted."""
    for number in range(group.num_columns):
        column = group.column(number)
        bounds = column.statistics
        if column.path_in_schema == "msgid" and bounds is not None and bounds.has_min_max:
            first = bisect_left(msgids, bounds.min)
            return first < len(msgids) and msgids[first] <= bounds.max
    return True


def _find_row(tables: Tables, msgid: str, copy: Copy, columns: list[str]) -> dict[str, Any] | None:
    wanted = {"ts": copy.ts, "msgid": msgid, "audience": copy.audience}
    rows = equal(tables.data_files(ORIGINALS), ORIGINALS, wanted, columns).to_pylist()
    return rows[0] if rows else None
