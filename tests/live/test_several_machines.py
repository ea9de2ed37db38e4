"""Two `up` with parts of one site, as on two machines, over one PostgreSQL, Redis and directory."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import urllib.error
import urllib.request

import pytest

from tapestry.client.site import Site as Api
from tests.support.servers.dovecot import running_dovecot
from tests.support.servers.postgres import running_postgres
from tests.support.servers.redis_process import Redis
from tests.support.servers.site import end, start, wait_ready
from tests.support.servers.smtp import running_smtp
from tests.support.site_killed import World
from tests.support.site_parts import WORKER, eventually, processes_of, wait_for_nobody

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

KILLS = int(os.environ.get("TEST_KILLS") or 12)
"""Kills of the campaign, of parts and of machines."""

PARTS = "web,worker,listener,beat"

SETTLE = """
from filters.api.authentication import make_token
from filters.authoring.lifecycle import install
from filters.people.models import User
joe = User.objects.create_user("joe")
install(joe, "from jones", name="jones")
print(make_token(joe, "test", ["read"], 7)[1])
"""

LETTER = "Message-ID: <{name}@x>\nFrom: jones@x.org\nSubject: {name}\n\nHello.\n"


@pytest.fixture
def environment(tmp_path, spark_server):
    redis = Redis(tmp_path)
    redis.start()
    try:
        with running_postgres() as database:
            yield {"DATABASE_URL": database, "REDIS_URL": redis.url, "SPARK_REMOTE": spark_server}
    finally:
        redis.kill()


@pytest.fixture
def machines(data_dir, environment):
    """Two machines, each with all that is Python."""
    started = [
        start(data_dir, "--parts", PARTS, **environment, TAPESTRY_MACHINE=name) for name in "ab"
    ]
    try:
        for site in started:
            wait_ready(site)
        yield started
    finally:
        for site in started:
            site.process.kill()
            site.process.wait()
        wait_for_nobody(data_dir)


def parts_of_health(site):
    try:
        with urllib.request.urlopen(f"{site.url}healthz") as answer:
            content = json.load(answer)
    except urllib.error.HTTPError as error:
        content = json.load(error)
    return content["parts"]["parts"]["says"]


@pytest.mark.long
def test_what_one_machine_leaves_another_goes_on_with(machines, environment, data_dir):
    one, other = machines
    secret = one.manage("shell", "-v", "0", "-c", SETTLE, **environment).strip()
    pages = [Api(site.url, secret) for site in machines]

    def found(page):
        return sorted(m["id"] for m in page.get("filters/jones/matches")["matches"])

    def mails(name, *expected, of):
        (data_dir / f"{name}.eml").write_text(LETTER.format(name=name))
        one.manage("ingest", str(data_dir / f"{name}.eml"), **environment)
        for page in of:
            eventually(lambda page=page: found(page) == sorted(expected), 300)

    for site in machines:
        eventually(lambda site=site: parts_of_health(site) == "run on a, b")
    mails("1", "1@x", of=pages)
    workers = [
        number
        for number, arguments in processes_of(data_dir).items()
        if WORKER in arguments and "shared" in arguments
    ]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    mails("2", "1@x", "2@x", of=pages)
    one.process.kill()
    mails("3", "1@x", "2@x", "3@x", of=pages[1:])
    eventually(lambda: "The machine a has said nothing for" in parts_of_health(other))
    assert "Traceback" not in other.log.read_text()
    assert end(other) == 0


class TwoMachines(World):
    """A world whose site has two machines, of which parts are killed, and either as a whole."""

    def run_and_kill(self, most, **environment):
        given = {**self.environment, **environment}
        sites = [start(self.data, **{**given, "TAPESTRY_MACHINE": name}) for name in "ab"]
        for site in sites:
            wait_ready(site)
        self.send_and_kill(most)
        self.chance.shuffle(sites)
        for site in sites:
            self.send(2)
            time.sleep(self.chance.choice([0.0, 5.0, 20.0]))
            site.process.kill()
            site.process.wait(120)
            self.killed["machine"] += 1
            assert "Traceback" not in site.log.read_text()
        wait_for_nobody(self.data)


@pytest.mark.long
@pytest.mark.timeout(0)
def test_nothing_is_lost_or_comes_twice_when_machines_are_killed(inn, environment, data_dir):
    with running_dovecot() as dovecot, running_smtp() as smtp:
        named = {**environment, "EMAIL_URL": smtp.url, "TAPESTRY_MACHINE": "a"}
        world = TwoMachines(dovecot, inn, smtp, data_dir, named, random.Random(KILLS))
        try:
            world.settle()
            while world.killed.total() < KILLS:
                world.run_and_kill(5)
            assert not list(world.differences())
        finally:
            world.end()
