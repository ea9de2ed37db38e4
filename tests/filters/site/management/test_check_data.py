"""`check-data`: what is whole, each damage in a sentence, and how the command ends."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.processes import forked

LETTERS = [f"From: joe@x.org\nMessage-ID: <{n}@x>\nSubject: n{n}\n\nHello.\n" for n in range(6)]


def manage(data, *arguments, run=forked.run, python=()):
    return run(
        [*python, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | {"TAPESTRY_DATA": str(data), "DATABASE_URL": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=600,
    )


started = partial(manage, run=subprocess.run, python=[sys.executable])
"""A command as a person starts it."""


@pytest.fixture(scope="module")
def ingested(tmp_path_factory):
    """Six letters, and a data directory that has taken them in."""
    place = tmp_path_factory.mktemp("ingested")
    letters = place / "letters"
    letters.mkdir()
    for number, letter in enumerate(LETTERS):
        (letters / f"{number}.eml").write_text(letter)
    done = manage(place / "data", "ingest", str(letters))
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def stored(ingested, tmp_path):
    """A data directory with six letters, for one test."""
    shutil.copytree(ingested, tmp_path, dirs_exist_ok=True)
    return tmp_path / "data"


def test_it_says_what_is_whole_names_damage_and_mends_it(stored):
    done = started(stored, "check-data")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "data files: whole (3 files, 18 rows)" in done.stdout
    assert "database: whole" in done.stdout

    log = stored / "tables" / "messages" / "_delta_log"
    entry = max(log.glob("*.json"))
    whole = entry.read_bytes()
    entry.write_bytes(b"")
    done = manage(stored, "check-data", "--json")
    assert done.returncode == 1
    (damage,) = json.loads(done.stdout)["damages"]
    assert damage["path"] == str(entry) and damage["reason"] == "it is empty"
    assert entry.read_bytes() == b"", "a check changes nothing"

    done = manage(stored, "check-data", "--repair")
    assert done.returncode == 0, done.stdout + done.stderr
    assert entry.read_bytes() == whole


def test_what_is_lost_is_said_and_a_backup_brings_it_again(stored):
    done = manage(stored, "backup", str(stored.parent / "backup"))
    assert done.returncode == 0, done.stderr
    (path,) = (stored / "tables" / "messages").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    failed = manage(stored, "ingest", str(stored.parent / "letters"))
    shown = manage(stored, "check-data")
    assert shown.returncode == 1
    assert f"tables/messages/{path.name}: its checksum does not agree; 6 rows" in shown.stdout
    assert failed.returncode == 1 and f"{path} is damaged: its checksum" in failed.stderr
    assert "What to do: restore a backup of the data directory." in shown.stdout
    done = manage(stored, "check-data", "--repair")
    damage = set(shown.stdout.splitlines())
    assert done.returncode == 1 and damage <= set(done.stdout.splitlines()), "no row is mended"
    restored = stored.parent / "restored"
    done = manage(restored, "restore", str(stored.parent / "backup"))
    assert done.returncode == 0, done.stdout + done.stderr
    again = manage(restored, "ingest", str(stored.parent / "letters"))
    assert again.returncode == 0, again.stderr
    assert "data files: whole (3 files, 18 rows)" in manage(restored, "check-data").stdout


def test_a_repair_is_refused_while_the_site_runs(stored):
    from tapestry.core.files.file_lock import file_lock

    max((stored / "tables" / "messages" / "_delta_log").glob("*.json")).write_bytes(b"")
    with file_lock(stored / "run" / "up.lock"):
        done = manage(stored, "check-data", "--repair")
    assert done.returncode == 1
    assert "is in use by another Tapestry" in done.stderr


def test_an_empty_directory_is_whole_and_stays_empty(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    done = manage(empty, "check-data")
    assert (done.returncode, done.stdout) == (0, f"Nothing is stored in {empty}.\n")
    assert not list(empty.iterdir())


def test_a_damaged_database_is_named(stored):
    database = Path(stored / "db.sqlite3")
    content = bytearray(database.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    database.write_bytes(content)
    done = manage(stored, "check-data")
    assert done.returncode == 1
    assert "db.sqlite3: " in done.stdout and "restore a backup" in done.stdout


def forge(data, statement):
    """Change the database as an older version would have left it."""
    with sqlite3.connect(data / "db.sqlite3") as database:
        database.execute(statement)


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--repair"]])
def test_an_older_version_is_no_damage_and_one_sentence_says_what_to_do(stored, arguments):
    forge(stored, "DELETE FROM django_migrations WHERE app = 'delivery'")
    done = manage(stored, "check-data", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    sentence, remedy = done.stderr.splitlines()
    assert sentence.startswith("error: This database is of an older version of Tapestry")
    assert "manage.py up" in remedy


@pytest.mark.parametrize("command", [["check-data"], ["matches", "alice"]])
def test_a_database_of_before_the_first_version_is_refused_in_a_sentence(stored, command):
    forge(stored, "INSERT INTO django_migrations VALUES (NULL, 'filters', '0001_initial', '')")
    done = started(stored, *command)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: This data directory is of before version 1.0")
