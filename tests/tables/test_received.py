"""``received`` in the tables: never after ``ts``, in order, with bounds by which it is found."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from support.clocks import MemoryClock

from tapestry.core.clock import parse_instant
from tapestry.core.message import Message
from tapestry.core.schema import MESSAGES
from tapestry.ingest.parse import received_of
from tapestry.tables import upgrade as upgrading
from tapestry.tables.append import append_messages
from tapestry.tables.compact import compact
from tapestry.tables.delta.log import Tables
from tapestry.tables.find import by_time
from tapestry.tables.originals import Original
from tapestry.tables.rows import arrow_schema
from tapestry.tables.upgrade import upgrade


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


# Tables of an older version.

AT = parse_instant("2026-01-31T12:00:00Z")
SENT, GOT = (parse_instant(f"2004-01-0{day}T12:00:00Z") for day in (1, 2))
DATE, RECEIVED = (
    b"Date: Thu, 01 Jan 2004 12:00:00 +0000\n",
    b"Received: by b; Fri, 02 Jan 2004 12:00:00 +0000\n",
)
OLD = {
    "told@x": (SENT, RECEIVED + DATE, GOT),
    "dated@x": (SENT, b"Subject: x\n", SENT),
    "undated@x": (None, b"Subject: x\n", AT + 1),
    "future@x": (AT + 10**12, b"Subject: x\n", AT + 1),
}


@pytest.fixture
def old(tmp_path: Path) -> Tables:
    """Tables as the version before wrote them: without ``received``, in two files."""
    tables = Tables(tmp_path)
    mail = [Message(msgid, date=date) for msgid, (date, _, _) in OLD.items()]
    originals = [Original(raw + b"\nHello\n") for _, raw, _ in OLD.values()]
    for half in (slice(0, 2), slice(2, 4)):
        clock = MemoryClock()
        append_messages(tables, clock, mail[half], now=lambda: AT - 1, originals=originals[half])
    files = [pq.read_table(data_file.path) for data_file in tables.data_files(MESSAGES)]
    schema = arrow_schema(MESSAGES)
    older = schema.remove(schema.get_field_index("received"))
    path = tmp_path / MESSAGES
    path.rename(tmp_path / "newer")
    DeltaTable.create(str(path), older, configuration={"delta.appendOnly": "true"})
    for rows in files:
        write_deltalake(str(path), rows.select(older.names).cast(older), mode="append")
    return tables


def received(tables: Tables) -> dict[str, int]:
    rows = tables.open(MESSAGES).to_pyarrow_table(columns=["msgid", "received"]).to_pylist()
    return {row["msgid"]: row["received"] for row in rows}


def test_older_tables_get_it_from_the_originals_else_from_date(old: Tables) -> None:
    assert upgrade(old, received_of)
    assert received(old) == {msgid: at for msgid, (_, _, at) in OLD.items()}
    assert [f.bounds("received") for f in old.data_files(MESSAGES)] == [(SENT, GOT), (AT + 1,) * 2]
    assert not upgrade(old, received_of)
    append(old, AT + 100, SENT)
    compact(old, keep_hours=0)
    assert len(received(old)) == 5


def test_an_interrupted_upgrade_has_changed_nothing(
    old: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(path.name for path in (old.root / MESSAGES).rglob("*"))

    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(upgrading, "statistics", stop)
        with pytest.raises(KeyboardInterrupt):
            upgrade(old, received_of)
    assert sorted(path.name for path in (old.root / MESSAGES).rglob("*")) == before
    assert upgrade(old, received_of)
    entry = old.root / MESSAGES / "_delta_log" / f"{3:020}.json"
    actions = [next(iter(json.loads(line))) for line in entry.read_text().splitlines()]
    assert sorted(actions) == ["add", "add", "commitInfo", "metaData", "remove", "remove"]
