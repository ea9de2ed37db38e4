"""A damaged Parquet file is named; its rows are never read otherwise than they were written."""

from __future__ import annotations

import errno
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.message import Message
from tapestry.core.surroundings import is_of_surroundings
from tapestry.tables.delta import parquet_file
from tapestry.tables.delta.log import Tables
from tapestry.tables.delta.parquet_file import (
    read_parquet,
    verify_whole,
    write_parquet,
)
from tapestry.tables.read import file_facts, find
from tapestry.tables.read.find import by_key
from tapestry.tables.read.messages import message
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock


def forget_what_is_known():
    parquet_file.parquet_footer.cache_clear()
    file_facts.facts_of.cache_clear()
    find._kept.cache_clear()


@pytest.fixture
def path(tmp_path):
    rows = pa.table({"n": range(5000), "text": [f"text {n % 90}" for n in range(5000)]})
    return write_parquet(tmp_path, rows, 1000, ["text"])


def test_a_changed_byte_and_a_truncation_are_noticed_by_a_check(path):
    whole = path.read_bytes()
    chance = random.Random(1)
    verify_whole(path)
    for position in {0, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(100))}:
        changed = bytearray(whole)
        changed[position] ^= 1 << chance.randrange(8)
        for content in (changed, whole[:position]):
            path.write_bytes(content)
            with pytest.raises(DamagedFileError) as error:
                verify_whole(path)
            assert error.value.path == str(path)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_read_of_a_damaged_large_file_is_right_or_an_error(path, seed, monkeypatch):
    monkeypatch.setattr(parquet_file, "WHOLE", 0)  # as if it were large
    whole, expected = path.read_bytes(), read_parquet(path)
    chance = random.Random(seed)
    noticed = 0
    for _ in range(150):
        changed = bytearray(whole)
        changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        forget_what_is_known()
        try:
            assert read_parquet(path) == expected
        except DamagedFileError:
            noticed += 1
    assert noticed > 100


def test_a_file_without_checksums_in_its_name_is_not_believed(tmp_path):
    path = tmp_path / "part-1b4e28ba-2fa1-11d2-883f-0016d3cca427.zstd.parquet"
    pq.write_table(pa.table({"n": [1, 2]}), path)
    for read in (verify_whole, read_parquet):
        with pytest.raises(DamagedFileError, match="its name has no checksums"):
            read(path)


def test_a_file_that_is_not_there_is_not_damaged(path):
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read_parquet(path)


@pytest.mark.parametrize("again", [None, OSError(errno.ENOTCONN, "not connected")], ids=repr)
def test_a_file_whose_server_is_gone_is_not_damaged(path, monkeypatch, again):
    def fail(*_, **__):
        if again is not None:
            monkeypatch.setattr(Path, "open", fail_again)
        raise OSError("error stat()ing file")  # as pyarrow says it, without a number

    def fail_again(*_):
        raise again

    monkeypatch.setattr(pq, "ParquetFile", fail)
    with pytest.raises(OSError, match=r"stat\(\)ing|not connected") as raised:
        read_parquet(path)
    assert is_of_surroundings(raised.value)


def test_no_known_message_is_added_again_over_a_damaged_file(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    known = [Message(f"m{n}", body="some text") for n in range(300)]
    append_messages(tables, clock, known)
    (file,) = tables.data_files("messages")
    content = bytearray(Path(file.path).read_bytes())
    content[len(content) // 2] ^= 4
    Path(file.path).write_bytes(content)
    forget_what_is_known()
    for act in (
        lambda: append_messages(tables, clock, known),
        lambda: message(tables, "m7", ("public",)),
        lambda: by_key([file], None, "messages", "msgid", {"m7"}, ["ts"]),
    ):
        with pytest.raises(DamagedFileError, match="is damaged") as error:
            act()
        assert Path(file.path).name in error.value.message


def test_compaction_merges_what_is_whole_and_names_the_rest(tmp_path, caplog):
    tables, clock = Tables(tmp_path), MemoryClock()
    for n in range(4):
        append_messages(tables, clock, [Message(f"m{n}")])
    damaged = tables.data_files("messages")[1].path
    Path(damaged).write_bytes(b"")
    forget_what_is_known()
    compact(tables)
    assert damaged in caplog.text
    assert len(tables.data_files("messages")) == 4
