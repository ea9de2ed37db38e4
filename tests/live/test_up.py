"""`manage.py up`: what it says when it cannot start, and a Spark that it starts again."""

import os
import signal
import socket
import sqlite3
from contextlib import closing

import pytest

from tests.support.servers.site import end, start, wait_ready
from tests.support.site_parts import eventually, processes_of, wait_for_nobody

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


def mails(site, data, count):
    """One more message comes in, of so many, and is delivered."""
    (data / f"{count}.eml").write_text(f"Message-ID: <{count}@x>\n\nNumber {count}.\n")
    site.manage("ingest", str(data / f"{count}.eml"))
    eventually(lambda: matches(data) == count)


def spark_of(data, server="spark"):
    """The process number of a server of a data directory, None while there is none."""
    settings = str(data / "run" / server / "log4j2.properties")
    running = processes_of(data).items()
    return next((pid for pid, arguments in running if settings in "".join(arguments)), None)
