"""Compaction: fewer files, the same rows, cursors and instants; appends go on meanwhile.

Each append of messages makes a file of them, and one of their threads.
"""

from __future__ import annotations

import fcntl
import multiprocessing
from contextlib import nullcontext
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.write import compact as compaction
from tapestry.tables.write.append import Cursor, advance_watermark, append_messages, cursor_of
from tapestry.tables.write.compact import Compaction, compact, compact_small_files, drop_old_files
from tests.support.clocks import FileClock, MemoryClock

ROUNDS = 20


def test_small_files_become_one_and_nothing_else_changes(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(6):
        append_messages(tables, clock, [Message(f"m{n}")], Cursor("s", n), now=lambda n=n: n * 10)
    before = snapshot(tables)
    done = compact(tables)
    assert (done.removed, done.added) == (12, 2)
    (part,) = snapshot(tables).messages
    assert (part.rows, part.min_ts, part.max_ts) == (6, 1, 51)
    assert cursor_of(tables, "s") == Cursor("s", 5)
    assert tables.data_files("messages").newest == 51
    assert advance_watermark(tables, MemoryClock(), now=lambda: 0) == 51
    # A reader that resolved its files before goes on reading them.
    assert sum(pq.read_table(part.path).num_rows for part in before.messages) == 6
    assert append_messages(tables, clock, [Message("m3")]).duplicates == 1


def test_a_second_compaction_finds_nothing_to_do(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(3):
        append_messages(tables, clock, [Message(f"m{n}")])
    compact(tables)
    version = tables.open("messages").version()
    assert compact(tables).removed == 0
    assert tables.open("messages").version() == version


def test_what_no_version_needs_is_deleted_and_no_entry_of_the_log_is_written_for_it(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(3):
        append_messages(tables, clock, [Message(f"m{n}")])
    compact(tables)
    version = tables.open("messages").version()
    assert len(list((tmp_path / "messages").glob("*.parquet"))) == 4
    drop_old_files(tables.open("messages"), 0, stray=True)
    assert len(list((tmp_path / "messages").glob("*.parquet"))) == 1
    # One that delta-rs wrote would not be synced: a power failure could cut it short.
    assert tables.open("messages").version() == version
    assert snapshot(tables).messages[0].rows == 3


def test_two_compactions_never_run_at_once(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(3):
        append_messages(tables, clock, [Message(f"m{n}")])
    with (tmp_path / "compact.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert compact(tables) == Compaction(0, 0)
    assert compact(tables) == Compaction(6, 2)


def test_of_two_that_have_lost_the_lock_one_replaces_the_files(tmp_path, monkeypatch):
    tables, clock, turns = Tables(tmp_path), MemoryClock(), []
    for n in range(3):
        append_messages(tables, clock, [Message(f"m{n}")])
    rewrite = compaction.rewrite

    def paused(*arguments):
        rewrite(*arguments)
        turns.append(arguments)
        if len(turns) == 1:
            assert compact(tables).removed == 6

    monkeypatch.setattr(compaction, "site_lock", lambda path: nullcontext(True))
    monkeypatch.setattr(compaction, "rewrite", paused)
    with pytest.raises(TapestryError, match="Another process has replaced files"):
        compact(tables)
    assert sum(file.rows for file in tables.data_files("messages")) == 3


def test_small_files_are_merged_as_they_accumulate(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    read = []
    for n in range(10):
        append_messages(tables, clock, [Message(f"m{n}")], Cursor("s", n + 1))
        read.append(snapshot(tables).messages)
        compact_small_files(tables, most=4)
    assert max(map(len, read)) == 4
    assert [part.rows for part in snapshot(tables).messages] == [10]
    assert cursor_of(tables, "s") == Cursor("s", 10)
    # Readers that resolved their files before go on reading them.
    assert [sum(pq.read_table(part.path).num_rows for part in parts) for parts in read] == [
        *range(1, 11)
    ]


def test_large_files_and_few_small_ones_stay(tmp_path, monkeypatch):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(6):
        append_messages(tables, clock, [Message(f"m{n}", body="x" * 10 * (n == 2))])
    assert compact_small_files(tables) == Compaction(0, 0)
    sizes = [part.bytes for part in snapshot(tables).messages]
    monkeypatch.setattr(compaction, "SMALL", sizes[2])
    assert compact_small_files(tables, most=4) == Compaction(6, 1), "those of threads"
    assert compact_small_files(tables, most=3) == Compaction(3, 1)
    assert [part.rows for part in snapshot(tables).messages] == [1, 1, 1, 3]


def test_no_more_than_some_files_are_merged_between_appends(tmp_path, monkeypatch):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(6):
        append_messages(tables, clock, [Message(f"m{n}")])
    monkeypatch.setattr(compaction, "MOST_MERGED", 4)
    assert compact_small_files(tables, most=3) == Compaction(8, 2)
    assert [part.rows for part in snapshot(tables).messages] == [1, 1, 4]


def test_what_cannot_be_merged_does_not_end_an_import(tmp_path, caplog):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(3):
        append_messages(tables, clock, [Message(f"m{n}")])
    Path(snapshot(tables).messages[1].path).unlink()
    assert compact_small_files(tables, most=3) == Compaction(3, 1), "those of threads"
    assert "cannot be merged" in caplog.text
    with (tmp_path / "compact.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert compact_small_files(tables, most=3) == Compaction(0, 0)


def _appender(root: Path, name: str) -> None:
    tables, clock = Tables(root), FileClock(root / "clock")
    for n in range(ROUNDS):
        append_messages(tables, clock, [Message(f"{name}{n}")], Cursor(name, n))


def _compactor(root: Path) -> None:
    tables = Tables(root)
    for _ in range(10):
        compact_small_files(tables, most=3)
        compact(tables)


def test_processes_append_and_compact_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_appender, args=(tmp_path, "a")),
        context.Process(target=_appender, args=(tmp_path, "b")),
        context.Process(target=_compactor, args=(tmp_path,)),
        context.Process(target=_compactor, args=(tmp_path,)),
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    tables = Tables(tmp_path)
    rows = tables.open("messages").to_pyarrow_table(columns=["msgid", "ts"]).to_pylist()
    assert sorted(row["msgid"] for row in rows) == sorted(
        f"{name}{n}" for name in "ab" for n in range(ROUNDS)
    )
    assert len({row["ts"] for row in rows}) == 2 * ROUNDS
    assert cursor_of(tables, "a").version == cursor_of(tables, "b").version == ROUNDS - 1


def test_a_compaction_is_one_line_of_the_log(tmp_path, caplog):
    caplog.set_level("INFO", logger="tapestry.tables.write.compact")
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(3):
        append_messages(tables, clock, [Message(f"m{n}")])
    compact(tables)
    (line,) = (line for line in caplog.messages if line.startswith("compaction"))
    assert line.startswith("compaction ran=true removed=6 added=2 seconds=")
