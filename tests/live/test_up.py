"""`manage.py up`: what it says when it cannot start, and that it leaves nothing behind."""

import os
import signal
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.servers.site import end, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]


def words(site):
    """Wait for it to end; return its exit code and all it said."""
    code = site.process.wait(60)
    return code, (site.data / "up.log").read_text()


def processes_of(data):
    """Processes whose environment or arguments name the data directory: number to arguments."""
    named = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes()
            description = (process / "environ").read_bytes() + arguments
        except OSError:
            continue
        if str(data).encode() in description and int(process.name) != os.getpid():
            named[int(process.name)] = arguments.split(b"\0")
    return named


def wait_for_nobody(data, seconds=15):
    deadline = time.monotonic() + seconds
    while left := processes_of(data):
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def test_a_port_that_is_taken_is_one_sentence(data_dir):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        code, output = words(start(data_dir, port=port))
    assert code == 1
    assert output.startswith(f"error: Port {port} cannot be used (Address already in use).\nName")
    assert "Traceback" not in output


def test_no_java_is_one_sentence_and_nothing_runs_on(data_dir, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(data_dir))
    code, output = words(start(data_dir))
    assert code == 1
    assert output.startswith("error: Spark needs Java 17 or newer, and there is none in JAVA_HOME")
    wait_for_nobody(data_dir)


def test_it_starts_once_per_directory_and_ends_with_all_its_parts(data_dir):
    site = start(data_dir)
    output = wait_ready(site)
    assert output.count("\n") == 2
    assert output.startswith("Nobody can sign in yet.")
    assert {path.name for path in (data_dir / "run").glob("*.[ur]*")} >= {
        "redis.url",
        "spark.remote",
    }

    code, refused = words(start(data_dir_of_second(data_dir), "--data", str(data_dir)))
    assert code == 1
    assert f"error: The data directory {data_dir} is in use by another Tapestry" in refused

    begin = time.monotonic()
    assert end(site) == 0
    assert time.monotonic() - begin < 10
    wait_for_nobody(data_dir)
    assert not (data_dir / "run" / "redis.url").exists()


def data_dir_of_second(data):
    second = data.parent / "second"
    second.mkdir()
    return second


def test_a_part_that_dies_is_reported_and_everything_stops(data_dir):
    site = start(data_dir)
    wait_ready(site)
    worker = next(
        pid for pid, arguments in processes_of(data_dir).items() if b"shared" in arguments
    )
    os.kill(worker, signal.SIGKILL)
    code, output = words(site)
    assert code == 1
    assert "error: The worker of shared ended by signal 9; the last line of" in output
    wait_for_nobody(data_dir)


INSTALL = """
from django.contrib.auth.models import User
from filters.authoring.lifecycle import install
install(User.objects.create_user("joe"), "m.size > 0")
"""


def matches(data):
    with closing(sqlite3.connect(data / "db.sqlite3", timeout=30)) as database:
        return database.execute("SELECT count(*) FROM filters_match").fetchone()[0]


@pytest.mark.long
def test_spark_is_started_again_and_filters_go_on(data_dir):
    site = start(data_dir)
    wait_ready(site)
    site.manage("shell", "-v", "0", "-c", INSTALL)
    os.kill(spark_of(data_dir), signal.SIGKILL)
    mails(site, data_dir, 1)
    before = spark_of(data_dir)
    (data_dir / "run" / "spark.again").touch()  # as the worker asks when a statement hangs
    wait_for(lambda: spark_of(data_dir) not in (None, before))
    mails(site, data_dir, 2)
    assert "Spark" not in (data_dir / "up.log").read_text()
    assert end(site) == 0


def mails(site, data, count):
    """One more message comes in, of so many, and is delivered."""
    (data / f"{count}.eml").write_text(f"Message-ID: <{count}@x>\n\nNumber {count}.\n")
    site.manage("ingest", str(data / f"{count}.eml"))
    wait_for(lambda: matches(data) == count)


def wait_for(done, seconds=240):
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def spark_of(data, server="spark"):
    """The process number of a server of a data directory, None while there is none."""
    settings = str(data / "run" / server / "spark-conf").encode()
    running = processes_of(data).items()
    return next((pid for pid, arguments in running if settings in b"".join(arguments)), None)


def test_nothing_outlives_it_when_it_is_killed(data_dir):
    site = start(data_dir)
    wait_ready(site)
    site.process.send_signal(signal.SIGKILL)
    site.process.wait()
    wait_for_nobody(data_dir)
