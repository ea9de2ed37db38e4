"""A data directory belongs to one `up` at a time."""

import os

import pytest

from filters.launch.claim import claimed, publish
from tapestry.core.errors import TapestryError


def test_it_makes_the_directory_and_keeps_it_from_other_people(tmp_path):
    with claimed(tmp_path / "a" / "b") as run:
        assert run == tmp_path / "a" / "b" / "run"
        assert run.stat().st_mode & 0o777 == 0o700


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
