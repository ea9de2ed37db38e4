"""A data directory belongs to one `up` at a time."""

import os
import subprocess

import pytest

from filters.site.launch.claim import claimed, publish
from tapestry.core.errors import TapestryError


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.fixture
def umask():
    """What most people have."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_it_makes_the_directory_and_keeps_it_from_other_people(tmp_path):
    with claimed(tmp_path / "a" / "b") as run:
        assert run == tmp_path / "a" / "b" / "run"
        assert {mode(run), mode(run.parent)} == {0o700}


@pytest.mark.parametrize("held", [(), ("tables", "run")])
def test_one_that_is_open_to_all_is_narrowed_and_that_is_said(tmp_path, monkeypatch, caplog, held):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    tmp_path.chmod(0o755)
    for name in held:
        (tmp_path / name).mkdir()
    with claimed(tmp_path):
        assert mode(tmp_path) == 0o700
    assert "now they cannot" in caplog.text


def test_one_of_something_else_or_that_a_spark_elsewhere_reads_is_left_open_and_that_is_said(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    tmp_path.chmod(0o755)
    (tmp_path / "thesis").mkdir()
    with claimed(tmp_path):
        assert mode(tmp_path) == 0o755
    assert caplog.text.count("chmod 700") == 1
    (tmp_path / "tables").mkdir()
    monkeypatch.setenv("SPARK_REMOTE", "sc://spark.example.org")
    with claimed(tmp_path):
        assert mode(tmp_path) == 0o755
    assert caplog.text.count("chmod 700") == 2


@pytest.mark.parametrize(("directory", "file"), [(0o700, 0o600), (0o750, 0o640), (0o755, 0o644)])
def test_what_is_made_meanwhile_is_as_open_as_the_directory(
    tmp_path, monkeypatch, umask, directory, file
):
    monkeypatch.setenv("SPARK_REMOTE", "sc://spark.example.org")
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(directory)
    with claimed(data):
        subprocess.run(["touch", data / "mail"], check=True)
    (data / "later").touch()
    assert (mode(data), mode(data / "mail"), mode(data / "later")) == (directory, file, 0o644)


def test_a_second_claim_is_refused_and_names_the_first(tmp_path):
    with claimed(tmp_path), pytest.raises(TapestryError) as refused, claimed(tmp_path):
        pass
    assert refused.value.message == (
        f"The data directory {tmp_path} is in use by another Tapestry (process {os.getpid()})."
    )
    with claimed(tmp_path):
        pass


def test_a_place_that_cannot_be_a_directory_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TapestryError) as refused, claimed(tmp_path / "file"):
        pass
    assert refused.value.message.startswith(f"The data directory {tmp_path / 'file'} cannot be")


def test_addresses_are_withdrawn_at_the_end_and_at_the_next_start(tmp_path):
    with claimed(tmp_path) as run:
        publish(run, "redis.url", "redis://x")
        assert (run / "redis.url").read_text() == "redis://x\n"
        assert (run / "redis.url").stat().st_mode & 0o777 == 0o600
    assert not (run / "redis.url").exists()
    (run / "spark.remote").write_text("of one that was killed")
    with claimed(tmp_path):
        assert not (run / "spark.remote").exists()
