"""Tombstones cannot be built again: a damaged run is written from its copy, or is an error."""

from __future__ import annotations

import numpy as np
import pytest

from tapestry.core.damage import DamagedFileError
from tapestry.core.sorted_hashes import hash_texts
from tapestry.tables.tombstones import SUFFIX, add_tombstones, find_tombstones, tombstone_files

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


def test_those_of_an_older_version_are_found_and_are_written_anew_with_the_next(tmp_path):
    add_tombstones(tmp_path, AUDIENCE, ["a"])
    (path,) = tombstone_files(tmp_path)
    for file in path.parent.iterdir():
        file.unlink()
    (path.parent / "old.hashes").write_bytes(np.sort(hash_texts(["b", "c"])).tobytes())
    assert find_tombstones(tmp_path, AUDIENCE, ["a", "b"]) == {"b"}
    add_tombstones(tmp_path, AUDIENCE, ["d"])
    assert find_tombstones(tmp_path, AUDIENCE, ["b", "c", "d", "e"]) == {"b", "c", "d"}
    assert [path.suffix for path in tombstone_files(tmp_path)] == [SUFFIX]
