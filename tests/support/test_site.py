"""A site of a test that has set something aside fails that test, unless it was planted."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from filters.runs.models import SetAside
from tests.support.servers.site import Site, end


def test_a_site_in_which_something_is_set_aside_does_not_end_well(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as database, database:
        database.execute(f"CREATE TABLE {SetAside._meta.db_table} (kind, key, traceback)")
    assert end(ended(tmp_path)) == 0
    with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as database, database:
        database.execute("INSERT INTO runs_setaside VALUES ('source', '7', 'KeyError: 1')")
    with pytest.raises(pytest.fail.Exception, match=r"source 7 was set aside.*\n?KeyError: 1"):
        end(ended(tmp_path))
    assert end(ended(tmp_path), sets_aside=True) == 0


def ended(data: Path) -> Site:
    process = subprocess.Popen(["true"])
    process.wait()
    return Site(data, "http://127.0.0.1:1/", process)
