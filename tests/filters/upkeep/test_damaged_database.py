"""A damaged database is not backed up: it is named, with what to do."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from filters.upkeep.backup import DRAFT
from tests.support.faults.stored_world import ended, run

pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("stored") / "site"
    ended(run(data, "go-on", 7))
    with closing(sqlite3.connect(data / "db.sqlite3")) as database:
        database.execute("PRAGMA journal_mode=DELETE")  # all of it is in one file
    return data


def overwrite(path: Path, begin: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(begin)
        file.write(content)


def root_page(path: Path) -> None:
    """Overwrite the first page of a table that a backup itself does not read."""
    with closing(sqlite3.connect(path)) as database:
        [[size]] = database.execute("PRAGMA page_size")
        wanted = "SELECT rootpage FROM sqlite_master WHERE name = 'auth_permission'"
        [[page]] = database.execute(wanted)
    overwrite(path, (page - 1) * size, b"\xa5" * size)


def missing_row(path: Path) -> None:
    """Delete an account, and none of what belongs to it."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM people_user")
        database.commit()


def first_page(path: Path) -> None:
    overwrite(path, 0, b"\xa5" * 4096)


def end(path: Path) -> None:
    """Cut the file in half."""
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [root_page, missing_row, first_page, end])
def test_a_damaged_database_is_named_and_there_is_no_backup(
    site: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    data, backup = tmp_path / "site", tmp_path / "backup"
    shutil.copytree(site, data)
    damage(data / "db.sqlite3")
    program = run(data, "backup", backup)
    _, errors = program.communicate(timeout=600)
    assert program.returncode == 1 and "Traceback" not in errors, errors
    assert f"The file {data / 'db.sqlite3'} is damaged: " in errors
    assert "manage.py restore" in errors
    assert not backup.exists() and not backup.with_name(backup.name + DRAFT).exists()


def test_the_whole_database_is_backed_up(site: Path, tmp_path: Path) -> None:
    ended(run(site, "backup", tmp_path / "backup"))
    files = {path.name for path in (tmp_path / "backup").iterdir() if path.is_file()}
    assert {name for name in files if name.startswith("db.")} == {"db.sqlite3"}
