"""The index: what is looked up through it is what a scan finds, at any stage of its making."""

from __future__ import annotations

import multiprocessing
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tapestry.core.files.site_lock import site_lock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.keys import hash_runs
from tapestry.tables.read.find import ReadLimit, by_key, by_time
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.compact import compact
from tests.support.campaigns import campaigns
from tests.support.clocks import FileClock, MemoryClock

COLUMNS = ["msgid", "inreplyto", "ts", "audience"]


def found(tables, column, values, root="its own"):
    parts = tables.data_files("messages")
    where = tables.root if root == "its own" else root
    rows = by_key(parts, where, "messages", column, set(values), COLUMNS).to_pylist()
    return sorted((row["ts"], row["msgid"], row["inreplyto"], row["audience"]) for row in rows)


def agree(tables, values):
    for column in ("msgid", "inreplyto"):
        assert found(tables, column, values) == found(tables, column, values, None)


def grow(tables, clock, batches, seed=1):
    chance = random.Random(seed)
    made = []
    for _ in range(batches):
        new = []
        for _ in range(chance.randint(1, 6)):
            parent = chance.choice(made) if made and chance.random() < 0.7 else None
            audience = chance.choice(["public", "user:joe"])
            new.append(Message(f"m{len(made)}", inreplyto=parent, audience=audience))
            made.append(new[-1].msgid)
        append_messages(tables, clock, new)
    return made


def test_what_is_found_is_what_a_scan_finds(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    made = grow(tables, clock, 40)
    assert hash_runs.index_runs(tmp_path, "messages", "msgid").listed(), "appends extend the index"
    agree(tables, [])
    agree(tables, ["m0", "m7", "nobody's", made[-1]])
    agree(tables, made)


def test_compaction_and_more_appends_leave_it_right(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    made = grow(tables, clock, 10)
    hash_runs.extend_index(tables, "messages")
    compact(tables)
    agree(tables, made)
    append_messages(tables, clock, [Message("late", inreplyto="m3")])
    agree(tables, [*made, "late"])
    assert append_messages(tables, clock, [Message("late"), Message("m0")]).added <= 1


def test_without_it_rows_are_found_by_scanning(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    made = grow(tables, clock, 20)
    shutil.rmtree(tmp_path / "index")
    agree(tables, made)
    hash_runs.extend_index(tables, "messages")
    agree(tables, made)


def test_a_run_that_was_cut_short_is_not_believed(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    made = grow(tables, clock, 20)
    hash_runs.extend_index(tables, "messages")
    for run in hash_runs.index_runs(tmp_path, "messages", "msgid").listed():
        with Path(run.path).open("r+b") as file:
            file.truncate(8)
    agree(tables, made)
    hash_runs.extend_index(tables, "messages")
    agree(tables, made)


def test_an_index_that_cannot_be_written_fails_no_append(tmp_path, caplog):
    tables, clock = Tables(tmp_path), MemoryClock()
    (tmp_path / "index.lock").mkdir(parents=True)
    made = grow(tables, clock, 20)
    assert "is not extended" in caplog.text
    assert not hash_runs.index_runs(tmp_path, "messages", "msgid").listed()
    agree(tables, made)


def test_one_process_extends_it_at_a_time(tmp_path):
    tables = Tables(tmp_path)
    with site_lock(tmp_path / "index.lock"):
        assert not hash_runs.extend_index(tables, "messages")
    assert hash_runs.extend_index(tables, "messages")


def test_runs_are_merged_so_that_there_are_few(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(40):
        append_messages(tables, clock, [Message(f"m{n}")])
        hash_runs.extend_index(tables, "messages")
    assert len(hash_runs.index_runs(tmp_path, "messages", "msgid").listed()) <= 7
    agree(tables, [f"m{n}" for n in range(40)])


@campaigns(
    6,
    15,
    steps=st.lists(st.sampled_from(["append", "extend", "compact"]), max_size=12),
    seed=st.integers(0, 99),
)
def test_any_order_of_appending_indexing_and_compacting_agrees(tmp_path_factory, steps, seed):
    tables, clock = Tables(tmp_path_factory.mktemp("index")), MemoryClock()
    made = grow(tables, clock, 2, seed)
    for step in steps:
        if step == "append":
            some = [Message(f"n{len(made)}", inreplyto=made[0]), Message(made[0])]
            append_messages(tables, clock, some)
            made.append(some[0].msgid)
        elif step == "extend":
            hash_runs.extend_index(tables, "messages")
        else:
            compact(tables)
    agree(tables, made)


def test_a_slice_of_time_is_read_without_the_rest(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(30):
        append_messages(tables, clock, [Message(f"m{n}")], now=lambda n=n: 10 * n)
    compact(tables)
    parts = tables.data_files("messages")
    rows = by_time(parts, "messages", [(11, 31), (41, 51)], ["msgid"])
    assert sorted(rows["msgid"].to_pylist()) == ["m2", "m3", "m5"]
    for most in (ReadLimit(rows=1, bytes=10**6), ReadLimit(rows=10**6, bytes=1)):
        assert by_time(parts, "messages", [(11, 31)], ["msgid"], most) is None
    assert by_time(parts, "messages", [(11, 31)], ["msgid"], ReadLimit(10**6, 10**6)) is not None


def _appender(root, name, batches):
    tables, clock = Tables(root), FileClock(root / "clock")
    for n in range(batches):
        append_messages(tables, clock, [Message(f"{name}{n}", inreplyto=f"{name}{n - 1}")])


def _reader(root, batches):
    tables = Tables(root)
    wanted = [f"{name}{n}" for name in "ab" for n in range(batches)]
    for _ in range(batches):
        agree_on_one_version(tables, wanted)


def agree_on_one_version(tables, wanted):
    parts = tables.data_files("messages")
    through, scanned = (
        by_key(parts, root, "messages", "inreplyto", wanted, ["msgid"])["msgid"].to_pylist()
        for root in (tables.root, None)
    )
    assert sorted(through) == sorted(scanned)


@pytest.mark.parametrize("batches", [20, pytest.param(60, marks=pytest.mark.long)])
def test_processes_append_and_look_up_at_once(tmp_path, batches):
    Tables(tmp_path).open("messages")
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_appender, args=(tmp_path, "a", batches)),
        context.Process(target=_appender, args=(tmp_path, "b", batches)),
        context.Process(target=_reader, args=(tmp_path, batches)),
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
    assert [process.exitcode for process in processes] == [0, 0, 0]


def test_a_damaged_run_of_the_right_size_adds_no_known_message_again(tmp_path, caplog):
    tables, clock = Tables(tmp_path), MemoryClock()
    known = [Message(f"m{n}", sender=f"s{n}", inreplyto=f"m{n - 1}") for n in range(970)]
    append_messages(tables, clock, known)
    hash_runs.extend_index(tables, "messages")
    for path in (tmp_path / "index").rglob("*.sorted"):
        path.write_bytes(bytes(max(path.stat().st_size - 4000, 0)) + path.read_bytes()[-4000:])
    assert append_messages(tables, clock, known).added == 0
    assert "damaged" in caplog.text and ".sorted" in caplog.text
    assert not hash_runs.index_runs(tmp_path, "messages", "msgid").listed(), "it counts as missing"
    hash_runs.extend_index(tables, "messages")
    agree(tables, [message.msgid for message in known])


def test_damage_while_the_process_runs_is_noticed(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    known = [Message(f"m{n}") for n in range(100)]
    append_messages(tables, clock, known)
    hash_runs.extend_index(tables, "messages")
    agree(tables, ["m1"])
    for path in (tmp_path / "index").rglob("*.sorted"):
        path.write_bytes(bytes(path.stat().st_size))
    assert append_messages(tables, clock, known).added == 0
