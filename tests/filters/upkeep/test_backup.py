"""A backup that is made while the site is at work holds all, and a restored site goes on."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from filters.site.work.restoring import LATER
from filters.upkeep.backup import DRAFT
from tapestry.core.clock import HOUR, wall_clock
from tests.support.faults import backed_up
from tests.support.faults.stored_world import BATCH, ended, expected, run, start, told

Begin = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("stored") / "site"
    ended(run(data, "go-on", 3 * BATCH))
    return data


@pytest.fixture(scope="module")
def backed_up_once(site: Path) -> Path:
    path = site.with_name("backup")
    with sqlite3.connect(site / "db.sqlite3") as database:
        database.execute("INSERT INTO django_session VALUES ('of-before', '', '2099-01-01')")
    ended(run(site, "backup", path))
    return path


@pytest.fixture
def backup(backed_up_once: Path, tmp_path: Path) -> Path:
    """A backup of the site, for one test."""
    return shutil.copytree(backed_up_once, tmp_path / "backup")


def refused(data: Path, *arguments: object) -> str:
    program = run(data, *arguments)
    _, errors = program.communicate(timeout=600)
    assert program.returncode == 1 and "Traceback" not in errors, errors
    return errors


@pytest.mark.long
def test_sites_restored_from_backups_at_work_find_what_all_find(tmp_path: Path) -> None:
    backed_up.hold(tmp_path, lambda _name: "")


def test_a_backup_is_for_its_owner_alone_and_holds_the_keys(site: Path, backup: Path) -> None:
    assert backup.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in backup.rglob("*"))
    (site / "source.key").write_text("a key")
    again = backup.with_name("again")
    printed = ended(run(site, "backup", again))
    assert "21 messages" in printed and "whoever has it can read" in printed
    assert (again / "source.key").read_text() == "a key"
    (site / "source.key").unlink()


def test_what_was_backed_up_is_restored_and_nothing_else(backup: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    tried = ended(run(copy, "restore", backup, "--dry-run"))
    assert "Nothing is restored. The backup of" in tried and not (copy / "db.sqlite3").exists()
    printed = ended(run(copy, "restore", backup))
    assert f"manage.py up --data {copy}" in printed
    assert sorted(told(copy)["matches"]) == expected(3 * BATCH)
    assert (backup / LATER).exists() and not (copy / LATER).exists()
    with sqlite3.connect(copy / "db.sqlite3") as database:
        (last,) = database.execute("SELECT last FROM runs_releasecounter").fetchone()
        sessions = database.execute("SELECT count(*) FROM django_session").fetchone()
    assert last > wall_clock() - HOUR, "no position is given twice"
    assert sessions == (0,), "one may have been ended since"
    assert "Something is stored" in refused(copy, "restore", backup)


def test_a_changed_byte_of_a_backup_is_named_and_nothing_is_restored(
    backup: Path, tmp_path: Path
) -> None:
    chance = random.Random(7)
    files = [path for path in backup.rglob("*") if path.is_file() and path.stat().st_size]
    for path in chance.sample(files, 4):
        whole = path.read_bytes()
        place = chance.randrange(len(whole))
        changed = bytes([whole[place] ^ 0x55])
        path.write_bytes(whole[:place] + changed + whole[place + 1 :])
        for more in ((), ("--dry-run",)):
            assert str(path) in refused(tmp_path / "copy", "restore", backup, *more)
        assert {item.name for item in (tmp_path / "copy").iterdir()} <= {"run"}
        path.write_bytes(whole)


def test_a_damaged_site_is_not_backed_up_in_silence(site: Path, tmp_path: Path) -> None:
    shutil.copytree(site, tmp_path / "site")
    damaged = max((tmp_path / "site" / "tables" / "messages").glob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-9] + b"xxxxxxxxx")
    assert damaged.name in refused(tmp_path / "site", "backup", tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


IMPORTING = {run: 0.0, start: 0.4}
"""Seconds in which a program that is begun so has done nothing yet but import."""


@pytest.mark.parametrize(
    ("begin", "kills"), [(run, 1), pytest.param(start, 3, marks=pytest.mark.long)]
)
def test_a_killed_backup_leaves_none_and_a_killed_restore_is_repeated(
    site: Path, backup: Path, tmp_path: Path, begin: Begin, kills: int
) -> None:
    chance = random.Random(3)
    for _ in range(kills):
        killed = begin(site, "backup", tmp_path / "new")
        time.sleep(IMPORTING[begin] + chance.uniform(0.1, 1.1))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        if not (tmp_path / "new").exists():
            ended(run(site, "backup", tmp_path / "new"))
        assert not (tmp_path / f"new{DRAFT}").exists()
        shutil.rmtree(tmp_path / "new")
    copy = tmp_path / "copy"
    killed = begin(copy, "restore", backup)
    time.sleep(IMPORTING[begin] + chance.uniform(0.1, 0.6))
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    if (copy / LATER).exists():
        assert "was cut short" in refused(copy, "tick")
        shutil.rmtree(copy)
    if not (copy / "db.sqlite3").exists():
        ended(run(copy, "restore", backup))
    assert sorted(told(copy)["matches"]) == expected(3 * BATCH)


def test_nothing_is_started_where_a_restore_was_cut_short(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / LATER).write_text("[]")
    for command in (["tick"], ["restore", tmp_path]):
        assert f"A restore into {copy} was cut short." in refused(copy, *command)
    assert not (copy / "db.sqlite3").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["backup", "{tmp}/empty/../site-within"], "Nothing is stored"),
        (["restore", "{tmp}"], "is no backup"),
        (["restore", "{tmp}/missing"], "is no backup"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "empty").mkdir()
    arguments = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    assert words in refused(tmp_path / "data", *arguments)


def test_a_backup_does_not_replace_anything(site: Path, backup: Path) -> None:
    assert "is not empty" in refused(site, "backup", backup)
    assert "within the data directory" in refused(site, "backup", site / "backup")
