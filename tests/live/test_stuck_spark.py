"""The executor of a running site's Spark is ended: health says so, and work goes on elsewhere."""

from __future__ import annotations

import json
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.processes.listening_ports import listening
from tests.support.processes.site_parts import eventually, start_sparks
from tests.support.processes.spark_stranger import is_response, stop_executor
from tests.support.servers.site import Site, end, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(1800)]

OPEN = """
from tapestry.plan import engine
from tapestry.spark import server
engine.CHECK_SECONDS = 15.0
server.SECRECY.clear()
"""
"""What every process of this site does first: its Spark takes the messages of strangers."""

INSTALL = """
from filters.people.models import User
from filters.authoring.lifecycle import install
install(User.objects.create_user("joe"), "EXISTS (r: r.size + m.size > 0)")
"""


@pytest.fixture
def site(data_dir: Path, tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "sitecustomize.py").write_text(OPEN)
    running = start(data_dir, PYTHONPATH=f"{tmp_path}:{ROOT}")
    try:
        wait_ready(running, 300)
        yield running
    finally:
        code = end(running)
    assert code == 0


def published(site: Site, name: str) -> str:
    return (site.data / "run" / name).read_text().strip()


def wait_for(site: Site, done: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert site.process.poll() is None, (site.data / "up.log").read_text()
        assert time.monotonic() < deadline, health(site)
        time.sleep(0.2)


def health(site: Site) -> tuple[int, list[str]]:
    """Return the status, and what the parts say that are not well."""
    try:
        with urllib.request.urlopen(f"{site.url}healthz", timeout=120) as answer:
            return answer.status, []
    except urllib.error.HTTPError as error:
        parts = json.load(error)["parts"].values()
        return error.code, [part["says"] for part in parts if not part["ok"]]


def matched(site: Site) -> list[str]:
    with closing(sqlite3.connect(site.data / "db.sqlite3", timeout=30)) as database:
        rows = database.execute("SELECT msgid FROM inbox_match ORDER BY msgid").fetchall()
    return [msgid for (msgid,) in rows]


def mail(site: Site, number: int) -> None:
    path = site.data / f"{number}.eml"
    path.write_text(f"Message-ID: <{number}@x>\n\nNumber {number}.\n")
    site.manage("ingest", "--audience", "public", str(path))


def test_a_spark_without_an_executor_is_replaced_and_nothing_is_lost(site: Site) -> None:
    site.manage("shell", "-v", "0", "-c", INSTALL)
    mail(site, 1)
    wait_for(site, lambda: matched(site) == ["1@x"])
    start_sparks(site.data)
    remote, pid = published(site, "spark.remote"), int(published(site, "spark.pid"))
    eventually(lambda: any(is_response(stop_executor(port, 20)) for _, port in listening(pid)))
    mail(site, 2)
    wait_for(site, lambda: "Spark answers, but it runs nothing." in health(site)[1])
    wait_for(site, lambda: published(site, "spark.remote") != remote)
    wait_for(site, lambda: matched(site) == ["1@x", "2@x"])
    mail(site, 3)
    wait_for(site, lambda: matched(site) == ["1@x", "2@x", "3@x"])
    wait_for(site, lambda: health(site)[0] == 200)
    address, token = remote.split(";")
    assert address not in published(site, "spark.remote")
    assert token not in published(site, "spark.remote")
