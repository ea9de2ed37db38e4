"""``received`` in the tables: never after ``ts``, in order, with bounds by which it is found."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tapestry.core.message import Message
from tapestry.core.schema import MESSAGES
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.find import by_time
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path)


def append(tables: Tables, at: int, *received: int | None) -> None:
    mail = [Message(f"{at}-{n}@x", received=instant) for n, instant in enumerate(received)]
    append_messages(tables, MemoryClock(), mail, now=lambda: at - 1)


def stored(tables: Tables) -> list[tuple[int, int]]:
    rows = [
        row
        for data_file in tables.data_files(MESSAGES)
        for row in pq.read_table(data_file.path).to_pylist()
    ]
    return [(row["ts"], row["received"]) for row in rows]


def test_nothing_was_received_after_its_ts_and_rows_are_in_the_order_received(
    tables: Tables,
) -> None:
    append(tables, 100, None, 7, 300, 3)
    assert stored(tables) == [(100, 3), (100, 7), (100, 100), (100, 100)]


def test_a_slice_by_received_reads_only_the_files_that_can_hold_it(tables: Tables) -> None:
    append(tables, 100, 10, 20)
    append(tables, 200, 110, 5)
    append(tables, 300, 250)
    files = tables.data_files(MESSAGES)
    assert [data_file.bounds("received") for data_file in files] == [(10, 20), (5, 110), (250, 250)]
    assert files.overlapping([(20, 200)], "received") == [files[1]]
    found = by_time(files, MESSAGES, [(5, 20), (200, 250)], ["msgid"], by="received")
    assert found is not None
    assert sorted(found["msgid"].to_pylist()) == ["100-0@x", "100-1@x", "300-0@x"]


def test_compaction_keeps_bounds_and_order(tables: Tables) -> None:
    append(tables, 100, 20, 10)
    append(tables, 200, 110, 5)
    compact(tables, keep_hours=0)
    [merged] = tables.data_files(MESSAGES)
    assert merged.bounds("received") == (5, 110)
    assert stored(tables) == [(100, 10), (100, 20), (200, 5), (200, 110)]
