"""Directories that are deleted as a whole."""

import shutil

import pytest

from tapestry.core.files.durable import remove_directory


def test_a_directory_goes_as_a_whole_wherever_its_deletion_is_cut_short(tmp_path, monkeypatch):
    def killed(_path, **_):
        raise SystemExit

    directory, other = tmp_path / "index", tmp_path / "index2"
    for made in (directory, other):
        made.mkdir()
        (made / "0").touch()
    with monkeypatch.context() as cut, pytest.raises(SystemExit):
        cut.setattr(shutil, "rmtree", killed)
        remove_directory(directory)
    assert not directory.exists(), "no part of it is found under its name"
    directory.mkdir()
    remove_directory(directory)
    remove_directory(directory)
    assert list(tmp_path.iterdir()) == [other]
