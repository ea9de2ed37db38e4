"""A damaged log never gives an older version: it is mended from its mirror, or is an error."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tapestry.core.files import mirror
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.mirror import mirrors_of
from tapestry.core.message import Message
from tapestry.tables.delta import log_check, log_entry, log_state
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import Cursor, append_messages, cursor_of
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock


@pytest.fixture
def tables(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(4):
        append_messages(tables, clock, [Message(f"m{n}")], Cursor("s", n))
    forget_what_is_known()
    yield tables
    forget_what_is_known()


def forget_what_is_known():
    """Let the next look at a log be that of a new process."""
    log_state.log_state.cache_clear()


def seen(tables):
    forget_what_is_known()
    version, files = tables.version("messages")
    return version, sum(file.rows for file in files), cursor_of(tables, "s").version


def entry(tables, version):
    return log_entry.entry_path(tables.root / "messages", version)


@pytest.mark.parametrize("version", [0, 2, 4])
@pytest.mark.parametrize("damage", ["emptied", "flipped", "cut", "deleted"])
def test_a_damaged_entry_is_written_again_from_its_mirror(tables, damage, version, caplog):
    path = entry(tables, version)
    whole = path.read_bytes()
    if damage == "deleted":
        path.unlink()
    else:
        path.write_bytes(
            {"emptied": b"", "cut": whole[:-9], "flipped": whole.replace(b"m", b"n", 1)}[damage]
        )
    assert seen(tables) == (4, 4, 3)
    assert path.read_bytes() == whole
    assert path.name in caplog.text


@pytest.mark.parametrize("version", [2, 4])
def test_without_a_mirror_it_is_an_error_that_names_the_file(tables, version):
    path = entry(tables, version)
    path.write_bytes(b"")
    shutil.rmtree(mirrors_of(tables.root / "messages" / "_delta_log"))
    assert version < 4 or DeltaTable(str(tables.root / "messages")).version() == 4, "as delta-rs"
    with pytest.raises(DamagedFileError) as error:
        seen(tables)
    assert str(path) in error.value.message
    with pytest.raises(DamagedFileError):
        append_messages(tables, MemoryClock(), [Message("m3")], Cursor("s", 3))


def test_a_process_that_runs_notices_damage_of_its_newest_entry(tables):
    assert seen(tables) == (4, 4, 3)
    entry(tables, 4).write_bytes(b"")
    assert tables.version("messages")[0] == 4
    assert append_messages(tables, MemoryClock(), [Message("m3")]).added == 0


def test_every_byte_of_an_entry_counts(tables):
    content = entry(tables, 3).read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1
        for damaged in (bytes(changed), content[:position]):
            with pytest.raises(DamagedFileError):
                log_entry.parse_entry(entry(tables, 3), damaged)


@pytest.mark.parametrize("name", ["00000000000000000005.checkpoint.parquet", "_last_checkpoint"])
@pytest.mark.parametrize("damage", [b"", b"PAR1 and no more"])
def test_a_damaged_checkpoint_is_written_again(tables, name, damage, caplog):
    compact(tables)
    before = seen(tables)
    log = tables.root / "messages" / "_delta_log"
    names = sorted(path.name for path in log.iterdir())
    assert name in names, names
    (log / name).write_bytes(damage)
    assert seen(tables) == before
    assert name in caplog.text
    append_messages(tables, MemoryClock(), [Message("m9")])
    assert seen(tables)[1] == 5


@pytest.mark.parametrize("call", range(2))
def test_a_checkpoint_that_is_made_while_the_log_is_checked_is_no_damage(
    tables, monkeypatch, caplog, call
):
    """Another process makes two, and deletes the one that is being read, between two steps."""
    compact(tables)
    root, read, calls = tables.root / "messages", mirror.read_mirror, iter(range(100))

    def read_before(path):
        content = read(path)
        if next(calls) == call:
            for n in range(2):
                append_messages(tables, MemoryClock(), [Message(f"later{n}")])
                log_check.make_checkpoint(root)
        return content

    monkeypatch.setattr(log_check, "read_mirror", read_before)
    log_check.check_log(root)
    assert "damaged" not in caplog.text
    pointed, newest = log_check.pointed_at(root), log_check.newest_checkpoint(root)
    assert pointed == newest
    assert len(log_check.checkpoints(root)) <= 2
    assert next(calls) > call
    assert seen(tables)[1] == 6


def test_all_that_an_entry_names_is_on_the_disk_before_it(tables, monkeypatch):
    steps = []
    fsync, link = os.fsync, os.link

    def noted(descriptor):
        steps.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "link", lambda *paths: steps.append("link") or link(*paths))
    append_messages(tables, MemoryClock(), [Message("m9")])
    root, linked = str(tables.root / "messages"), steps.index("link")
    before, after = steps[:linked], steps[linked:]
    assert before[0].endswith(".unfinished"), "the rows, before the file has its name"
    assert before[1:] == [root, before[2]] and before[2].endswith(".json.tmp")
    assert after[1] == f"{root}/_delta_log"
