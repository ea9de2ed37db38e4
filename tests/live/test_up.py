"""`manage.py up`: what it says when it cannot start, and that it leaves nothing behind."""

import os
import re
import signal
import socket
import sqlite3
import time
from collections import Counter
from contextlib import closing, suppress
from email import message_from_bytes

import pytest

from filters.site.launch.stack import unhealthy
from filters.site.settings.workers import read_workers
from tests.support.servers.site import end, start, wait_ready
from tests.support.servers.smtp import running_smtp
from tests.support.site_killed import kind_of, processes_of, wait_for_nobody

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]


def words(site):
    """Wait for it to end; return its exit code and all it said."""
    code = site.process.wait(180)
    return code, (site.data / "up.log").read_text()


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


def data_dir_of_second(data):
    second = data.parent / "second"
    second.mkdir()
    return second


RECEIVED = """
from filters.people.models import User
from filters.authoring.lifecycle import install
from filters.delivery.models import Address, Destination
joe = User.objects.create_user("joe")
address = Address.objects.create(owner=joe, email="joe@x.org", confirmed_at=1)
Destination.objects.create(owner=joe, kind="forward", name="forward", address=address)
install(joe, "from ann@x.org", existing=False)
"""

WORKERS, MOST_WORKERS = read_workers(""), 5
PARTS = {"web", "redis", "beat", "spark", *(f"worker of {lanes[0]}" for lanes in WORKERS)}


def parts_of(site):
    """The processes of the parts of a site, by what they are."""
    found = {}
    for number, arguments in processes_of(site.data).items():
        found.setdefault(kind_of(arguments), set()).add(number)
    found.pop("up")
    return found


def all_parts_of(site):
    """The same once all run: one that has just ended is started again after a pause."""
    return wait_for(lambda: (found := parts_of(site)).keys() == PARTS and found)


def test_a_site_starts_once_per_directory_and_starts_killed_parts_again(data_dir):
    with running_smtp() as smtp:
        site = start(data_dir, EMAIL_URL=smtp.url)
        output = wait_ready(site)
        assert output.count("\n") == 2
        assert output.startswith("Nobody can sign in yet.")
        workers = [found for kind, found in parts_of(site).items() if kind.startswith("worker of ")]
        assert sum(map(len, workers)) == len(WORKERS) <= MOST_WORKERS
        assert re.search(r": (\d+) processes, (\d\.\d) GB of memory\.$", output, re.MULTILINE)
        assert {path.name for path in (data_dir / "run").glob("*.[ur]*")} >= {
            "redis.url",
            "spark.remote",
        }
        code, refused = words(start(data_dir_of_second(data_dir), "--data", str(data_dir)))
        assert code == 1
        assert f"error: The data directory {data_dir} is in use by another Tapestry" in refused
        site.manage("shell", "-v", "0", "-c", RECEIVED)
        letter(site, 1)
        wait_for(lambda: forwarded(smtp) == {"<1@x>": 1})
        before = all_parts_of(site)
        letter(site, 2)
        killed(before, PARTS - {"redis"})
        wait_for(lambda: forwarded(smtp) == {"<1@x>": 1, "<2@x>": 1})
        letter(site, 3)
        killed(parts_of(site), {"redis"})
        letter(site, 4)
        wait_for(lambda: forwarded(smtp) == dict.fromkeys(("<1@x>", "<2@x>", "<3@x>", "<4@x>"), 1))
        after = all_parts_of(site)
        assert not {pid for pids in before.values() for pid in pids} & {
            pid for pids in after.values() for pid in pids
        }
        wait_for(lambda: unhealthy(site.url) is None)
        log = (data_dir / "up.log").read_text()
        assert "The worker of shared ended by signal 9; the last line of" in log
        assert "Traceback" not in log
        site.process.send_signal(signal.SIGTERM)
        assert site.process.wait(180) == 0
    wait_for_nobody(data_dir)
    assert not (data_dir / "run" / "redis.url").exists()


def letter(site, number):
    path = site.data / f"{number}.eml"
    path.write_text(f"Message-ID: <{number}@x>\nFrom: ann@x.org\nSubject: s\n\nHello.\n")
    site.manage("ingest", str(path))


def killed(parts, kinds):
    for number in {number for kind in kinds for number in parts[kind]}:
        with suppress(ProcessLookupError):  # that of a parent was killed
            os.kill(number, signal.SIGKILL)


def forwarded(smtp):
    """How often each message was forwarded; the same sending, tried again, is one."""
    messages = [message_from_bytes(raw) for raw in list(smtp.taken)]
    return Counter(
        name for name, _ in {(m["Message-ID"], m["Resent-Message-ID"]) for m in messages}
    )


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
    wait_for(lambda: spark_of(data_dir) not in (None, before))
    mails(site, data_dir, 2)
    log = (data_dir / "up.log").read_text()
    assert "Spark ended by signal 9" in log and "Spark is replaced. It is started again." in log
    assert "Traceback" not in log
    assert end(site) == 0


def mails(site, data, count):
    """One more message comes in, of so many, and is delivered."""
    (data / f"{count}.eml").write_text(f"Message-ID: <{count}@x>\n\nNumber {count}.\n")
    site.manage("ingest", str(data / f"{count}.eml"))
    wait_for(lambda: matches(data) == count)


def wait_for(done, seconds=240):
    deadline = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return found


def spark_of(data, server="spark"):
    """The process number of a server of a data directory, None while there is none."""
    settings = str(data / "run" / server / "log4j2.properties")
    running = processes_of(data).items()
    return next((pid for pid, arguments in running if settings in "".join(arguments)), None)
