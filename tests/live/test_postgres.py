"""The application on PostgreSQL: its tests on SQLite are run again there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faults import backed_up
from tests.support.paths import ROOT
from tests.support.servers.postgres import programs, running_postgres

TESTS = ROOT / "tests" / "filters"

EXACT = (
    "inbox/lists/test_cards",
    "runs/store/test_filter_store",
    "runs/store/test_acts",
    "runs/store/test_leaving_unshown",
    "runs/store/test_parts",
    "runs/test_rounds",
    "delivery/test_claims",
    "delivery/test_subscriptions",
    "delivery/test_votes",
    "jmap/test_query_changes",
)
"""Where what is stored once, or locked, or raced for, is tested; the long campaign runs all."""

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def database_url() -> Iterator[str]:
    with running_postgres() as url:
        yield url


def hold(database_url: str, *files: Path) -> None:
    """Run some tests on a database; what they say is shown if one of them fails."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not long and not sqlite", *files],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-10_000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout, done.stdout[-1000:]


@pytest.mark.timeout(1800)
def test_what_is_stored_once_is_so_on_postgresql(database_url: str) -> None:
    hold(database_url, *(TESTS / f"{name}.py" for name in EXACT))


@pytest.mark.long
def test_a_restored_backup_goes_on_on_postgresql(database_url: str, tmp_path: Path) -> None:
    def new_database(name: str) -> str:
        admin, url = database_url, database_url.rpartition("/")[0] + f"/{name}"
        made = subprocess.run(
            [programs() / "psql", admin, "-qc", f"CREATE DATABASE {name}"], capture_output=True
        )
        assert made.returncode == 0 or b"already exists" in made.stderr, made.stderr
        return url

    backed_up.hold(tmp_path, new_database)


@pytest.mark.long
def test_the_whole_application_runs_on_postgresql(database_url: str) -> None:
    hold(database_url, TESTS)


@pytest.mark.long
def test_every_match_is_delivered_once_on_postgresql(database_url: str) -> None:
    hold(database_url, ROOT / "tests" / "live" / "test_deliveries_killed.py")
