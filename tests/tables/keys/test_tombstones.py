"""Tombstones cannot be built again: a damaged run is written from its mirror, or is an error."""

from __future__ import annotations

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.files import sorted_hashes
from tapestry.core.files.checksummed_file import ChecksummedFile
from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.mirror import mirror_of
from tapestry.tables.keys.runs import Runs
from tapestry.tables.keys.tombstones import add_tombstones, find_tombstones, tombstone_directories

AUDIENCE = "user:joe"


def stored(root):
    return [path for directory in tombstone_directories(root) for path in directory.iterdir()]


@pytest.mark.parametrize("cut", [0, 1])
def test_a_damaged_run_is_mended_from_its_mirror(tmp_path, caplog, cut):
    add_tombstones(tmp_path, AUDIENCE, ["a", "b"])
    (path,) = stored(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(bytes(len(whole) - cut))
    assert find_tombstones(tmp_path, AUDIENCE, ["a", "c"]) == {"a"}
    assert path.read_bytes() == whole
    assert str(path) in caplog.text


def test_a_damaged_run_is_mended_as_more_are_added(tmp_path):
    add_tombstones(tmp_path, AUDIENCE, ["a", "b"])
    (path,) = stored(tmp_path)
    path.write_bytes(bytes(path.stat().st_size))
    add_tombstones(tmp_path, AUDIENCE, ["c", "d"])
    assert find_tombstones(tmp_path, AUDIENCE, ["a", "d", "x"]) == {"a", "d"}


def test_without_a_whole_mirror_it_is_an_error_that_names_the_file(tmp_path):
    add_tombstones(tmp_path, AUDIENCE, ["a", "b"])
    (path,) = stored(tmp_path)
    for file in (path, mirror_of(path)):
        file.write_bytes(b"")
    for act in (find_tombstones, add_tombstones):
        with pytest.raises(DamagedFileError) as error:
            act(tmp_path, AUDIENCE, ["a"])
        assert path.name in error.value.message


def test_there_are_few_runs_and_a_mirror_of_each(tmp_path):
    for n in range(40):
        add_tombstones(tmp_path, AUDIENCE, [f"m{n}"])
    paths = stored(tmp_path)
    assert len(paths) <= 7
    assert sorted(mirror_of(paths[0]).parent.iterdir()) == sorted(map(mirror_of, paths))
    every = {f"m{n}" for n in range(40)}
    assert find_tombstones(tmp_path, AUDIENCE, [*every, "x"]) == every


def test_a_run_that_was_verified_is_not_read_again(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(
        sorted_hashes, "ChecksummedFile", lambda path: read.append(path) or ChecksummedFile(path)
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
    listed = Runs.listed

    def merged_meanwhile(self):
        runs = listed(self)
        with monkeypatch.context() as patch:
            patch.setattr(Runs, "listed", listed)
            add_tombstones(tmp_path, AUDIENCE, ["b"])
        return runs

    monkeypatch.setattr(Runs, "listed", merged_meanwhile)
    with pytest.raises(TapestryError, match="cannot be read: it is being written"):
        find_tombstones(tmp_path, AUDIENCE, ["a"])


def test_a_merge_that_is_listed_half_way_hides_nothing(tmp_path, monkeypatch):
    add_tombstones(tmp_path, AUDIENCE, ["a"])
    whole = Runs.listed
    half_way = [[]]  # the old run is deleted, and the new one was not there yet
    monkeypatch.setattr(Runs, "listed", lambda self: half_way.pop() if half_way else whole(self))
    assert find_tombstones(tmp_path, AUDIENCE, ["a"]) == {"a"}


def test_a_process_that_was_paused_deletes_nothing_that_another_wrote(tmp_path, monkeypatch):
    add_tombstones(tmp_path, AUDIENCE, ["a", "b", "c"])
    listed = Runs.listed

    def paused(self):
        runs = listed(self)
        monkeypatch.setattr(Runs, "listed", listed)
        add_tombstones(tmp_path, AUDIENCE, ["x"])
        return runs

    monkeypatch.setattr(Runs, "listed", paused)
    add_tombstones(tmp_path, AUDIENCE, ["y"])
    assert find_tombstones(tmp_path, AUDIENCE, ["a", "x", "y"]) == {"a", "x", "y"}
