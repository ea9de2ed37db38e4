"""Locks of a site on PostgreSQL: who has them, and what ends them."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
import pytest

from filters.site.settings.database_url import database_settings
from tests.support.paths import ROOT
from tests.support.processes.site_parts import eventually
from tests.support.servers.postgres import running_postgres

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

PROGRAM = """
import sys
import django
django.setup()
from filters.site.work.parts import services
from tapestry.core.files.site_lock import is_site_lock_held, shared_site_lock, site_lock
path = services.data() / "run" / "one.lock"
def say(word):
    print(word, flush=True)
for order in map(str.strip, sys.stdin):
    if order == "alone":
        alone = site_lock(path)
        say(alone.__enter__())
    elif order == "let go":
        say(f"gone {alone.__exit__(None, None, None)}")
    elif order == "shared":
        shared = shared_site_lock(path)
        say(shared.__enter__())
    elif order == "is held":
        say(is_site_lock_held(path))
"""


GONE = "gone False"


class Process:
    """A process of the site on a machine of its own: the data are mounted at another place."""

    def __init__(self, database, data):
        data.mkdir()
        named = {"DATABASE_URL": database, "TAPESTRY_DATA": str(data)}
        self.running = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env=os.environ | named | {"DJANGO_SETTINGS_MODULE": "tapestry.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def does(self, order):
        print(order, file=self.running.stdin, flush=True)
        return self.running.stdout.readline().strip()

    def end(self):
        self.running.kill()
        self.running.communicate()


@pytest.fixture(scope="module")
def database():
    with running_postgres() as url:
        yield url


@pytest.fixture
def processes(database, tmp_path):
    made = [Process(database, tmp_path / name) for name in "abc"]
    yield made
    for process in made:
        process.end()


def test_one_has_a_lock_until_it_lets_go_or_ends(processes):
    one, other, third = processes
    assert (one.does("alone"), other.does("alone")) == ("True", "False")
    assert other.does("is held") == third.does("is held") == "True"
    assert one.does("let go") == GONE and other.does("alone") == "True"
    other.end()
    eventually(lambda: third.does("alone") == "True")


def test_several_share_a_lock_and_each_keeps_others_out(processes):
    one, other, third = processes
    assert one.does("shared") == other.does("shared") == "None"
    assert third.does("alone") == "False"
    one.end()
    assert third.does("alone") == "False" and third.does("is held") == "True"
    other.end()
    eventually(lambda: third.does("alone") == "True")
    assert third.does("is held") == "True" and third.does("let go") == GONE
    assert third.does("is held") == "False"


def test_a_process_that_loses_what_it_holds_ends(processes, database):
    one, other, _ = processes
    assert one.does("alone") == "True"
    with psycopg.connect(database) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        )
    assert one.running.wait(60) == 1
    assert other.does("alone") == "True"


def test_a_process_that_holds_nothing_outlives_its_session(processes, database):
    one, other, _ = processes
    assert one.does("alone") == "True" and one.does("let go") == GONE
    with psycopg.connect(database) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
    eventually(lambda: one.running.poll() is None and one.does("alone") == "True")
    assert other.does("alone") == "False"


def test_postgresql_ends_a_session_whose_answer_nobody_takes(database):
    read = database_settings(database)
    with psycopg.connect(database, **read["OPTIONS"]) as session:
        assert session.execute("SHOW tcp_user_timeout").fetchone() == ("25000",)
