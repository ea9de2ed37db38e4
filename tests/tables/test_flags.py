"""``flags`` of originals: kept with the message, and null in files of an older version."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from support.clocks import MemoryClock

from tapestry.core.message import Message
from tapestry.tables import staging as staged
from tapestry.tables.append import append_messages
from tapestry.tables.backup import copy_tables
from tapestry.tables.check.data import check_tables
from tapestry.tables.check.report import Report
from tapestry.tables.compact import compact
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import salvage_row_groups
from tapestry.tables.originals import Original, original
from tapestry.tables.publish import publish
from tapestry.tables.read import copies
from tapestry.tables.rows import ORIGINALS, arrow_schema
from tapestry.tables.staging import Staging
from tapestry.tables.upgrade import upgrade

FLAGGED = Original(b"Subject: new", ("no date",), ("\\Flagged", "todo"))
OLD = Original(b"Subject: old", ("no date",))


def append(tables: Tables, msgid: str, kept: Original) -> None:
    mail = [Message(msgid, audience="user:alice")]
    append_messages(tables, MemoryClock(), mail, originals=[kept])


def kept(tables: Tables, msgid: str) -> Original | None:
    [copy] = copies(tables, msgid, ["user:alice"])
    return original(tables, msgid, copy)


@pytest.fixture
def old(tmp_path: Path) -> Tables:
    """Tables as the version before wrote them: originals without ``flags``, in two files."""
    tables = Tables(tmp_path / "tables")
    for msgid in ("1@x", "2@x"):
        append(tables, msgid, OLD)
    files = [pq.read_table(data_file.path) for data_file in tables.data_files(ORIGINALS)]
    schema = arrow_schema(ORIGINALS)
    older = schema.remove(schema.get_field_index("flags"))
    path = tables.root / ORIGINALS
    shutil.rmtree(path)
    DeltaTable.create(str(path), older, configuration={"delta.appendOnly": "true"})
    for rows in files:
        write_deltalake(str(path), rows.select(older.names).cast(older), mode="append")
    return Tables(tables.root)


def test_flags_are_kept_with_their_message(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    append(tables, "1@x", FLAGGED)
    append(tables, "2@x", OLD)
    assert (kept(tables, "1@x"), kept(tables, "2@x")) == (FLAGGED, OLD)


def test_older_originals_get_the_column_and_their_files_stay(old: Tables) -> None:
    before = sorted((old.root / ORIGINALS).glob("*.parquet"))
    assert upgrade(old, lambda *_: None)
    assert not upgrade(old, lambda *_: None)
    assert sorted((old.root / ORIGINALS).glob("*.parquet")) == before
    append(old, "3@x", FLAGGED)
    for _ in range(2):
        assert [kept(old, f"{n}@x") for n in (1, 2, 3)] == [OLD, OLD, FLAGGED]
        found = old.open(ORIGINALS).to_pyarrow_table(columns=["msgid", "flags"]).to_pylist()
        flags = {row["msgid"]: row["flags"] for row in found}
        assert flags == {"1@x": None, "2@x": None, "3@x": ["\\Flagged", "todo"]}
        assert compact(old, keep_hours=0)
    assert len(list((old.root / ORIGINALS).glob("*.parquet"))) == 1


def test_older_files_are_checked_copied_and_saved(old: Tables, tmp_path: Path) -> None:
    upgrade(old, lambda *_: None)
    append(old, "3@x", FLAGGED)
    copied = tmp_path / "copy"
    copy_tables(old.root, copied, shutil.copyfile)
    report = Report()
    check_tables(copied, report)
    assert not report.damages
    for data_file in old.data_files(ORIGINALS):
        [rows] = salvage_row_groups(data_file.path, arrow_schema(ORIGINALS))
        assert rows is not None and rows.schema == arrow_schema(ORIGINALS)


def test_what_an_older_version_has_staged_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(staged, "_ORIGINAL", ("problems", "raw"))
        with Staging.opened(tables, "box", "user:alice") as staging:
            staging.add([Message("1@x", audience="user:alice")], [FLAGGED], None)
    with Staging.opened(tables, "box", "user:alice") as staging:
        publish(staging, MemoryClock(), pause=lambda _: None)
    assert kept(tables, "1@x") == Original(FLAGGED.raw, FLAGGED.problems)
