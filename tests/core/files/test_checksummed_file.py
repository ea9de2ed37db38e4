"""Every byte of a checksummed file counts, and only what is read is verified."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from tapestry.core.files import checksummed_file
from tapestry.core.files.checksummed_file import BLOCK, ChecksummedFile, write_checksummed
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.sorted_hashes import MappedHashes, SortedHashes


def flip(path, position):
    content = bytearray(path.read_bytes())
    content[position] ^= 0x10
    path.write_bytes(content)


def test_what_was_written_is_read(tmp_path):
    write_checksummed(tmp_path / "f", b"abc", b"def")
    assert ChecksummedFile(tmp_path / "f").read().tobytes() == b"abcdef"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("size", [0, 1, 40])
def test_a_change_of_any_byte_and_any_truncation_is_noticed(tmp_path, size):
    path = tmp_path / "f"
    write_checksummed(path, bytes(size))
    whole = path.read_bytes()
    for position in range(len(whole)):
        flip(path, position)
        with pytest.raises(DamagedFileError) as error:
            ChecksummedFile(path).read()
        assert str(path) in error.value.message
        path.write_bytes(whole[:position])
        with pytest.raises(DamagedFileError):
            ChecksummedFile(path).read()
        path.write_bytes(whole)


def test_a_block_that_is_not_read_is_not_verified(tmp_path):
    path = tmp_path / "f"
    write_checksummed(path, bytes(3 * BLOCK + 1))
    flip(path, 2 * BLOCK)
    file = ChecksummedFile(path)
    file.verify(0, 2 * BLOCK)
    file.verify(3 * BLOCK, 3 * BLOCK + 1)
    with pytest.raises(DamagedFileError):
        file.verify(2 * BLOCK, 2 * BLOCK + 1)


def test_a_lookup_in_a_file_finds_what_one_in_memory_finds_and_reads_few_blocks(
    tmp_path, monkeypatch
):
    random = np.random.default_rng(1)
    hashes = random.integers(0, 60_000, 100_000).astype("<u8")  # many are there twice
    hashes[:20_000] = 7  # one fills whole blocks
    run = SortedHashes.sort(hashes, random.integers(-9, 9, (100_000, 2)))
    run.write(tmp_path / "run")
    mapped = MappedHashes(str(tmp_path / "run"), 100_000, 2)
    for wanted in ([], [7], [0, 59_999, 70_000], range(0, 60_000, 7)):
        sought = np.array(wanted, "<u8")
        assert (mapped.find(sought) == run.find(sought)).all()
    verified = []
    monkeypatch.setattr(
        checksummed_file, "crc32", lambda *args: verified.append(len(args[0])) or crc32(*args)
    )
    MappedHashes(str(tmp_path / "run"), 100_000, 2).find(np.array([30_000], "<u8"))
    assert sum(verified) < 6 * BLOCK < (tmp_path / "run").stat().st_size
