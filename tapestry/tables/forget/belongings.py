"""All rows of an audience or a person, file by file: what an export of somebody's data reads.

Few rows are in memory at once, however many there are.  The caller keeps the files
(tapestry.tables.backup.files_kept).
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import open_parquet
from tapestry.tables.read.originals import raws_of
from tapestry.tables.rows import ORIGINALS, AnnotationRow, MessageRow, annotation_row, message_row

_SLICE = 128
"""Messages whose originals are looked for at once."""


def messages_of(tables: Tables, audience: str) -> Iterator[tuple[MessageRow, bytes | None]]:
    """Yield the messages of an audience, the oldest file first, with originals that are kept."""
    originals = tables.data_files(ORIGINALS)
    for rows in _row_groups(tables, MESSAGES, "audience", audience):
        for begin in range(0, rows.num_rows, _SLICE):
            found = map(message_row, rows.slice(begin, _SLICE).to_pylist())
            waiting = {(row.message.msgid, audience, row.ts): row for row in found}
            for place, raw in raws_of(originals, set(waiting)):
                if raw and place in waiting:
                    yield waiting.pop(place), raw
            for row in waiting.values():
                yield row, None


def annotations_by(tables: Tables, owner: str, audience: str) -> Iterator[AnnotationRow]:
    """Yield the annotations that a person made, and those that only they can see."""
    for rows in _row_groups(tables, ANNOTATIONS, "owner", owner):
        yield from map(annotation_row, rows.to_pylist())
    for rows in _row_groups(tables, ANNOTATIONS, "audience", audience):
        others = rows.filter(pc.not_equal(rows["owner"], owner))
        yield from map(annotation_row, others.to_pylist())


def _row_groups(tables: Tables, table: str, column: str, value: str) -> Iterator[pa.Table]:
    """Yield, of each row group that has any, the rows with a value in a column."""
    for data_file in tables.data_files(table):
        with open_parquet(data_file.path, memory_map=True, pre_buffer=False) as file:
            for number in range(file.num_row_groups):
                mask = pc.equal(file.read_row_group(number, columns=[column])[column], value)
                if pc.any(mask).as_py():
                    yield file.read_row_group(number).filter(mask)
