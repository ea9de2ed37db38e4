"""The secret key: made once, kept privately."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from filters.site.work.crypto.key_file import secret_key


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)


def test_it_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    key = secret_key(tmp_path / "data")
    assert len(key) >= 50
    assert secret_key(tmp_path / "data") == key
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    (kept,) = (tmp_path / "data").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_environment_goes_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "given")
    assert secret_key(tmp_path) == "given"
    assert not list(tmp_path.iterdir())


def test_many_who_make_it_at_once_have_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(secret_key, [tmp_path / "data"] * 32))
    assert len(keys) == 1
    assert len(list((tmp_path / "data").iterdir())) == 1
