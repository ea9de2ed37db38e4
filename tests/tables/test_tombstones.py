"""Tombstones cannot be built again: a damaged run is written from its copy, or is an error."""

from __future__ import annotations

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.files.checksummed_file import ChecksummedFile
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.sorted_hashes import hash_texts
from tapestry.tables import tombstones
from tapestry.tables.tombstones import add_tombstones, find_tombstones, tombstone_files

AUDIENCE = "user:joe"


def test_a_damaged_run_is_mended_from_its_copy(tmp_path, caplog):
    add_tombstones(tmp_path, AUDIENCE, ["a", "b"])
    (path,) = tombstone_files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(bytes(len(whole)))
    assert find_tombstones(tmp_path, AUDIENCE, ["a", "c"]) == {"a"}
    assert path.read_bytes() == whole
    assert str(path) in caplog.text


def test_without_a_whole_copy_it_is_an_error_that_names_the_file(tmp_path):
    add_tombstones(tmp_path, AUDIENCE, ["a", "b"])
    (path,) = tombstone_files(tmp_path)
    for file in (path, path.with_name(path.name + ".copy")):
        file.write_bytes(b"")
    with pytest.raises(DamagedFileError) as error:
        find_tombstones(tmp_path, AUDIENCE, ["a"])
    assert path.name in error.value.message


def test_a_run_that_was_verified_is_not_read_again(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(
        tombstones, "ChecksummedFile", lambda path: read.append(path) or ChecksummedFile(path)
    )
    add_tombstones(tmp_path, AUDIENCE, map(str, range(100)))
    for _ in range(3):
        assert find_tombstones(tmp_path, AUDIENCE, ["1", "x"]) == {"1"}
    assert len(read) == 1
    add_tombstones(tmp_path, AUDIENCE, ["x"])
    assert find_tombstones(tmp_path, AUDIENCE, ["1", "x"]) == {"1", "x"}
    assert len(read) == 2, "only the new run"


def test_beside_merges_without_end_it_never_says_that_none_was_removed(tmp_path, monkeypatch):
    add_tombstones(tmp_path, AUDIENCE, ["a"])
    listed = tombstones._files

    def merged_meanwhile(directory):
        paths = listed(directory)
        add_tombstones_now(tmp_path, AUDIENCE, ["b"])
        return paths

    def add_tombstones_now(*given):
        with monkeypatch.context() as patch:
            patch.setattr(tombstones, "_files", listed)
            add_tombstones(*given)

    monkeypatch.setattr(tombstones, "_files", merged_meanwhile)
    with pytest.raises(TapestryError, match="cannot be read: it is being written"):
        find_tombstones(tmp_path, AUDIENCE, ["a"])


def test_a_merge_that_is_listed_half_way_hides_nothing(tmp_path, monkeypatch):
    add_tombstones(tmp_path, AUDIENCE, ["a"])
    whole = tombstones._files
    half_way = [[]]  # the old run is deleted, and the new one was not there yet
    monkeypatch.setattr(
        tombstones, "_files", lambda path: half_way.pop() if half_way else whole(path)
    )
    assert find_tombstones(tmp_path, AUDIENCE, ["a"]) == {"a"}
