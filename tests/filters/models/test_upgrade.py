"""A data directory made by the version before the standard terms opens, and goes on."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.old_data import build
from support.paths import ROOT

MANAGE = str(ROOT / "manage.py")

ROUND_WITHOUT_A_JVM = """
import django
django.setup()
from filters.runtime.database import make_database_ready
from filters.runtime import services
from filters.upkeep import rounds
from support.all_rows import all_rows
from support.engines.sqlite_engine import SqliteEngine
make_database_ready()
names = ("messages", "annotations")
services.engine_on = lambda snapshot: SqliteEngine(
    {name: all_rows(services.tables(), name) for name in names}
)
print(len(rounds.run_round().matches))
"""

BEFORE = {
    ("mary", "parc@x"),
    ("mary", "plan@x"),
    ("plain", "re-plan@x"),
    ("marys", "parc@x"),
    ("marys", "plan@x"),
    ("his", "plan@x"),
    ("answered", "plan@x"),
    ("unanswered", "parc@x"),
    ("unanswered", "re-plan@x"),
    ("unanswered", "re-parc@x"),
}
"""What the older version had delivered."""

NEW = {
    ("mary", "tennis@x"),
    ("marys", "tennis@x"),
    ("his", "tennis@x"),
    ("unanswered", "cricket@x"),
    ("unanswered", "tennis@x"),
    ("base", "cricket@x"),
    ("base", "tennis@x"),
    ("leaning", "cricket@x"),
    ("leaning", "tennis@x"),
}
"""What came last, and the older version had not run yet; of cricket is what an older text asks."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The data directory: filters of all kinds, one of them changed, mail that is not run yet."""
    data = tmp_path / "old"
    build("before_house", data)
    return data


def command(old: Path, *arguments: str, **environment: str) -> str:
    """Run Python on the data directory; return what it prints."""
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "TAPESTRY_DATA": str(old)}
    settings = {"DJANGO_SETTINGS_MODULE": "tapestry.settings"}
    ran = subprocess.run(
        [sys.executable, *arguments],
        env=inherited | paths | settings | environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def query(old: Path, sql: str) -> list[Any]:
    with sqlite3.connect(old / "db.sqlite3") as database:
        return database.execute(sql).fetchall()


def matches(old: Path) -> list[tuple[str, str]]:
    named = "filters_match JOIN filters_filter ON filters_filter.id = filter_id"
    return query(old, f"SELECT name, msgid FROM {named} ORDER BY name, msgid")


def check_that_it_goes_on(old: Path) -> None:
    """Check what was there, and that what was new has been delivered once."""
    assert matches(old) == sorted(BEFORE | NEW)
    marks = "SELECT name, msgid FROM filters_match JOIN filters_filter f ON f.id = filter_id "
    assert set(query(old, marks + "WHERE read_at IS NOT NULL")) == {
        ("mary", "plan@x"),
        ("his", "plan@x"),
    }
    assert query(old, marks + "WHERE retracted_at IS NOT NULL") == [("unanswered", "parc@x")]
    assert query(old, "SELECT COUNT(*) FROM filters_pendingwindow") == [(0,)]
    assert query(old, "SELECT kind FROM filters_outboxannotation WHERE appended_at IS NULL") == []
    detached = "SELECT name FROM filters_filter WHERE NOT enrolled ORDER BY name"
    assert query(old, detached) == [("paused",), ("unanswered",)]


def test_the_rows_of_an_older_database_are_kept(old: Path) -> None:
    command(old, MANAGE, "migrate", "--verbosity", "0")
    assert matches(old) == sorted(BEFORE)
    [(rows,)] = query(old, "SELECT evidence_rows FROM filters_match WHERE evidence_rows <> '[]'")
    assert '"who": "bill@example.org"' in rows
    explanations = query(old, "SELECT DISTINCT explanation FROM filters_match ORDER BY 1")
    assert ("in bob's marys and about plan",) in explanations
    assert query(old, "SELECT name FROM filters_filter WHERE display_tql <> ''") == [("his",)]
    assert len(query(old, "SELECT * FROM filters_pendingwindow")) == 2
    assert len(query(old, "SELECT * FROM filters_outboxannotation")) == 3
    assert query(old, "SELECT name FROM filters_retiredname") == [("group:srl",)]
    permitted = "auth_permission p JOIN auth_user_user_permissions u ON u.permission_id = p.id"
    assert query(old, f"SELECT codename FROM {permitted}") == [("change_heartbeat",)]


def test_a_round_goes_on_where_the_older_version_stopped(old: Path) -> None:
    round_ = ("-W", "ignore", "-c", ROUND_WITHOUT_A_JVM)
    command(old, *round_)
    check_that_it_goes_on(old)
    older, newer = (old / "tables" / name for name in ("register", "predicate_index"))
    assert not older.exists()
    assert len(list(newer.rglob("*.parquet"))) >= 2
    assert command(old, *round_) == "0\n"
    assert matches(old) == sorted(BEFORE | NEW)


@pytest.mark.long
@pytest.mark.spark
def test_a_tick_goes_on_where_the_older_version_stopped(old: Path, spark_server: str) -> None:
    command(old, MANAGE, "tick", SPARK_REMOTE=spark_server)
    check_that_it_goes_on(old)
    command(old, MANAGE, "tick", SPARK_REMOTE=spark_server)
    assert matches(old) == sorted(BEFORE | NEW)


KILLED_MIGRATION = """
import os, signal, sys
import django
django.setup()
from django.db.migrations.migration import Migration
from django.db.migrations.recorder import MigrationRecorder
from filters.runtime.database import make_database_ready
name, moment = sys.argv[1:]
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
if moment == "recorded":
    record = MigrationRecorder.record_applied
    def record_applied(self, app, applied):
        record(self, app, applied)
        if applied == name:
            die()
    MigrationRecorder.record_applied = record_applied
else:
    apply = Migration.apply
    def until_applied(self, *arguments, **options):
        state = apply(self, *arguments, **options)
        if self.name == name:
            die()
        return state
    Migration.apply = until_applied
make_database_ready()
"""

STEPS = [
    path.stem
    for path in sorted((ROOT / "filters" / "migrations").glob("0*.py"))
    if path.stem > "0009"
]


def check_after_a_kill(old: Path, step: str, moment: str) -> None:
    """Kill the upgrade at a step, and check that the next command goes on."""
    with pytest.raises(AssertionError):
        command(old, "-W", "ignore", "-c", KILLED_MIGRATION, step, moment)
    applied = query(old, f"SELECT * FROM django_migrations WHERE name = '{step}'")
    assert len(applied) <= (moment == "recorded")
    command(old, "-W", "ignore", "-c", ROUND_WITHOUT_A_JVM)
    check_that_it_goes_on(old)


@pytest.mark.long
@pytest.mark.parametrize("moment", ["applied", "recorded"])
def test_an_upgrade_that_was_killed_goes_on(old: Path, moment: str) -> None:
    check_after_a_kill(old, "0012_received", moment)


@pytest.mark.long
@pytest.mark.parametrize("moment", ["applied", "recorded"])
@pytest.mark.parametrize("step", STEPS)
def test_an_upgrade_that_was_killed_at_any_step_goes_on(old: Path, step: str, moment: str) -> None:
    check_after_a_kill(old, step, moment)
