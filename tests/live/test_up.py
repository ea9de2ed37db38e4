"""`manage.py up`: what it says when it cannot start, and a Spark that it starts again."""

import os
import signal
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from filters.site.launch.stack import unhealthy
from tapestry.spark.server import find_java
from tests.support.paths import ROOT
from tests.support.processes.site_parts import (
    eventually,
    processes_of,
    start_sparks,
    wait_for_nobody,
)
from tests.support.servers.site import end, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]


def test_a_port_that_is_taken_is_one_sentence(data_dir):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        code, output = start(data_dir, port=port).ended()
    assert code == 1
    assert output.startswith(f"error: Port {port} cannot be used (Address already in use).\nName")
    assert "Traceback" not in output


def test_no_java_is_one_sentence_and_nothing_runs_on(data_dir, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(data_dir))
    code, output = start(data_dir).ended()
    assert code == 1
    assert output.startswith("error: Spark needs Java 17 or newer, and there is none in JAVA_HOME")
    wait_for_nobody(data_dir)


INSTALL = """
from filters.people.models import User
from filters.authoring.lifecycle import install
install(User.objects.create_user("joe"), "m.size > 0")
"""


def matches(data):
    with closing(sqlite3.connect(data / "db.sqlite3", timeout=30)) as database:
        return database.execute("SELECT count(*) FROM inbox_match").fetchone()[0]


@pytest.mark.long
def test_spark_is_started_again_and_filters_go_on(data_dir):
    site = start(data_dir)
    wait_ready(site)
    site.manage("shell", "-v", "0", "-c", INSTALL)
    assert spark_of(data_dir) is None
    start_sparks(data_dir)
    os.kill(spark_of(data_dir), signal.SIGKILL)
    mails(site, data_dir, 1)
    before = spark_of(data_dir)
    (data_dir / "run" / "spark.again").touch()  # as the worker asks when a statement hangs
    eventually(lambda: spark_of(data_dir) not in (None, before))
    mails(site, data_dir, 2)
    log = (data_dir / "up.log").read_text()
    assert "Spark ended by signal 9" in log and "Spark is replaced. It is started again." in log
    assert "Traceback" not in log
    assert end(site) == 0


UNSURE = "Subject: test \ua640"
"""A letter that Spark may see otherwise than SQLite does: statements over it are left to Spark."""

OF_UNSURE = "m.subject HAS 'test'"


@pytest.mark.long
def test_two_statements_that_need_a_spark_start_one_and_have_their_answers(data_dir):
    site = start(data_dir)
    wait_ready(site)
    mails(site, data_dir, 1, UNSURE, expected=0)
    assert "1@x" in site.manage("ask", "m.size > 0")
    assert spark_of(data_dir, "spark-unproven") is None
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: eventually(lambda: asked(site), 900), range(2)))
    assert all("1@x" in answer for answer in answers)
    words = "The second Spark is needed for the first time. It is started."
    assert (data_dir / "up.log").read_text().count(words) == 1
    assert spark_of(data_dir) is None and spark_of(data_dir, "spark-unproven") is not None
    assert end(site) == 0


def asked(site):
    """An answer; None if Spark did not come up in time, on a machine that is busy."""
    try:
        return site.manage("ask", OF_UNSURE)
    except AssertionError as error:
        assert "Spark" in str(error)
        return None


QUICK = """
from filters.site.work.parts import services
services.START, services.HANGING = {start}, {hanging}
"""

JAVA = """#!/bin/sh
[ "$1" = -version ] || {{ {program}; }}
exec {java} "$@"
"""
"""A Java that does something else first, but for telling its version."""


def java_of(home, program):
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(JAVA.format(program=program, java=find_java()))
    java.chmod(0o755)


OF_ANN = """
from filters.people.models import User
from filters.authoring.lifecycle import install
install(User.objects.create_user("ann"), "m.subject HAS 'test'", existing=True)
"""


@pytest.mark.long
def test_a_spark_that_does_not_start_costs_only_what_needs_it(data_dir, tmp_path):
    java_of(tmp_path, "exit 3")
    (tmp_path / "sitecustomize.py").write_text(QUICK.format(start=5.0, hanging=300.0))
    site = start(data_dir, PYTHONPATH=f"{tmp_path}:{ROOT}", JAVA_HOME=str(tmp_path))
    wait_ready(site)
    site.manage("shell", "-v", "0", "-c", INSTALL)
    mails(site, data_dir, 1)
    mails(site, data_dir, 2, UNSURE)
    site.manage("shell", "-v", "0", "-c", OF_ANN)
    eventually(lambda: "The second Spark ended" in (unhealthy(site.url) or ""))
    log = (data_dir / "up.log").read_text()
    assert "The second Spark ended with code 1; " in log
    mails(site, data_dir, 3)
    assert end(site) == 0


@pytest.mark.long
def test_a_spark_whose_start_hangs_is_started_again(data_dir, tmp_path):
    first = tmp_path / "first"
    java_of(tmp_path, f"mkdir {first} 2>> {first}.log && exec sleep 3600")
    (tmp_path / "sitecustomize.py").write_text(QUICK.format(start=120.0, hanging=120.0))
    site = start(data_dir, PYTHONPATH=f"{tmp_path}:{ROOT}", JAVA_HOME=str(tmp_path))
    wait_ready(site)
    mails(site, data_dir, 1, UNSURE, expected=0)
    site.manage("shell", "-v", "0", "-c", OF_ANN)
    eventually(lambda: matches(data_dir) == 1, 900)
    assert first.is_dir() and "The second Spark is replaced." in (data_dir / "up.log").read_text()
    assert end(site) == 0


def mails(site, data, count, header="Subject: s", expected=None):
    """One more message comes in, of so many, and is delivered."""
    letter = (
        f"Message-ID: <{count}@x>\nContent-Type: text/plain; charset=utf-8\n{header}\n\nHello.\n"
    )
    (data / f"{count}.eml").write_text(letter)
    site.manage("ingest", str(data / f"{count}.eml"))
    eventually(lambda: matches(data) == (count if expected is None else expected))


def spark_of(data, server="spark"):
    """The process number of a server of a data directory, None while there is none."""
    settings = str(data / "run" / server / "log4j2.properties")
    running = processes_of(data).items()
    return next((pid for pid, arguments in running if settings in "".join(arguments)), None)
