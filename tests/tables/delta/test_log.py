"""The logs: what they are made of, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.core.schema import COLUMNS
from tapestry.tables.delta.data_files import DataFile
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.rows import arrow_schema
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path / "not there yet" / "50% é #?")


def test_tables_are_made_when_first_opened(tables):
    assert snapshot(tables).messages == snapshot(tables).annotations == ()
    assert tables.data_files("messages").newest == BEGINNING
    for name, columns in COLUMNS.items():
        assert pa.schema(tables.open(name).schema().to_arrow()).names == list(columns)


def test_a_snapshot_lists_the_files_with_rows_and_bounds_of_ts(tables):
    clock = MemoryClock()
    append_messages(tables, clock, [Message("a"), Message("b")], now=lambda: 10)
    append_messages(tables, clock, [Message("c")], now=lambda: 20)
    first, second = snapshot(tables).messages
    assert (first.rows, first.min_ts, first.max_ts) == (2, 11, 11)
    assert (second.rows, second.min_ts, second.max_ts) == (1, 21, 21)
    assert pq.read_table(first.path).column("msgid").to_pylist() == ["a", "b"]
    assert Path(first.path).is_absolute()
    assert isinstance(first, DataFile)


def test_a_table_that_needs_unknown_reader_features_is_refused(tables):
    path = tables.root / "messages"
    path.mkdir(parents=True)
    deltalake.DeltaTable.create(
        str(path), arrow_schema("messages"), configuration={"delta.enableDeletionVectors": "true"}
    )
    with pytest.raises(TapestryError, match=r"needs deletionVectors.*, which Tapestry cannot read"):
        snapshot(tables)


def test_a_table_of_somebody_else_is_refused(tables):
    path = tables.root / "messages"
    path.mkdir(parents=True)
    deltalake.write_deltalake(str(path), pa.table({"n": [1]}))
    with pytest.raises(TapestryError, match="has no column msgid, ts"):
        tables.open("messages")


def test_a_table_of_a_newer_version_is_left_as_it_is(tables):
    clock = MemoryClock()
    append_messages(tables, clock, [Message("a")])
    tables.open("messages").alter.add_columns([deltalake.Field("later", "string")])
    with pytest.raises(TapestryError, match=r"has the column later, which this version does not"):
        compact(tables)
    with pytest.raises(TapestryError, match=r"has the column later, which this version does not"):
        append_messages(tables, clock, [Message("b")])


def test_a_damaged_log_is_one_sentence(tables):
    tables.open("messages")
    log = tables.root / "messages" / "_delta_log" / "00000000000000000000.json"
    log.write_text("{ not json")
    shutil.rmtree(tables.root / "messages" / "_delta_log_mirror")
    with pytest.raises(TapestryError, match=f"{log.name} is damaged: it is cut short") as caught:
        tables.open("messages")
    assert "\n" not in caught.value.message


def test_a_directory_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TapestryError, match="cannot be opened"):
        Tables(tmp_path / "file").open("messages")
