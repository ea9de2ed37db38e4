"""Two `up` with parts of one site, as on two machines, over one PostgreSQL, Redis and directory.

host a ── bridge ── host b          each in a namespace of the network, cut off in turn
             └─ PostgreSQL, Redis, SMTP
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tapestry.client.site import Site as Api
from tapestry.core.clock import MINUTE
from tapestry.deliver.timing.flood import ALWAYS_ALLOWED
from tests.support.faults.site_killed import World
from tests.support.processes.site_parts import WORKER, eventually, processes_of, wait_for_nobody
from tests.support.processes.stepped_clock import SteppedClock
from tests.support.servers.dovecot import running_dovecot
from tests.support.servers.network import Host, Network, running_network
from tests.support.servers.postgres import running_postgres
from tests.support.servers.redis_process import Redis
from tests.support.servers.site import Site, end, manage, start, wait_ready
from tests.support.servers.smtp import SmtpServer, running_smtp

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

KILLS = int(os.environ.get("TEST_KILLS") or 12)
"""Kills of the campaign, of parts and of machines."""

CUTS = int(os.environ.get("TEST_CUTS") or 6)
"""How often one of the machines is cut off from the network."""

ROUNDS = int(os.environ.get("TEST_ROUNDS") or 1)
"""How often both machines are restarted."""

LATE = 60.0
"""Seconds after which a letter is late that came while a machine was restarted."""

PARTS = "web,worker,listener,beat"

FORWARD = """
from filters.delivery.models import Address, Destination
install(joe, "m.size > 0", name="all", mode="keep")
address = Address.objects.create(owner=joe, email="joe@x.org", confirmed_at=1)
Destination.objects.create(owner=joe, kind="forward", name="forward", address=address)
"""

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
            yield {
                **{"DATABASE_URL": database, "REDIS_URL": redis.url, "SPARK_REMOTE": spark_server},
                "TAPESTRY_WINDOW_PARTS": "2",
            }
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


FOUND = """
import json
from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.inbox.models import Match
from filters.runs.models import SetAside
found = Match.objects.exclude(sequence=None).values_list("filter__name", "msgid")
print(json.dumps({
    "found": sorted(map(list, found)),
    "due": Destination.objects.exclude(due_at=None, holder="").count(),
    "errors": list(Filter.objects.exclude(error="").values_list("error", flat=True)),
    "set_aside": list(SetAside.objects.values_list("kind", "traceback")),
}))
"""


@dataclass
class CutOff:
    """Two machines of one site on a network, either of which may be cut off from the other parts.

    The second has a clock of its own.
    """

    data: Path
    network: Network
    environment: dict[str, str]
    clock: dict[str, str]
    count: int = 0
    hosts: list[Host] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)

    def start(self) -> None:
        self.hosts = [Host(self.network, name, at) for at, name in enumerate("ab", 2)]
        self.sites = [
            start(
                self.data,
                inside=host.inside,
                **{**self.environment, **clock, "TAPESTRY_MACHINE": name},
            )
            for host, name, clock in zip(self.hosts, "ab", ({}, self.clock), strict=True)
        ]
        for site in self.sites:
            wait_ready(site)

    def end(self) -> None:
        for site in self.sites:
            site.process.kill()
            site.process.wait()
        wait_for_nobody(self.data)
        for host in self.hosts:
            host.remove()

    def manage(self, *words: str) -> str:
        return manage(self.data, *words, **self.environment)

    def send(self, count: int) -> None:
        for _ in range(count):
            file = self.data / f"{self.count}.eml"
            file.write_text(LETTER.format(name=self.count))
            self.manage("ingest", str(file))
            self.count += 1

    def expected(self) -> list[list[str]]:
        return [[name, f"{n}@x"] for name in ("jones", "all") for n in range(self.count)]

    def state(self) -> dict[str, object]:
        state: dict[str, object] = json.loads(self.manage("shell", "-v", "0", "-c", FOUND))
        return state

    def settle(self) -> None:
        """Wait until all is found by both filters, each once, and sent."""
        settled = {"found": sorted(self.expected()), "due": 0, "errors": [], "set_aside": []}
        eventually(lambda: self.state() == settled, 300, lambda: json.dumps(self.state(), indent=1))


@pytest.mark.long
@pytest.mark.timeout(0)
def test_what_a_machine_that_is_cut_off_leaves_another_goes_on_with(data_dir, tmp_path):
    chance = random.Random(CUTS)
    clock = SteppedClock(tmp_path, chance)
    with (
        running_network("tapestry-two", "10.89.36") as network,
        running_postgres(host=network.here) as database,
        running_smtp(host=network.here) as smtp,
    ):
        redis = Redis(tmp_path, network.here)
        redis.start()
        environment = {
            **{"DATABASE_URL": database, "REDIS_URL": redis.url, "EMAIL_URL": smtp.url},
            "TAPESTRY_WINDOW_PARTS": "2",
        }
        machines = CutOff(data_dir, network, environment, clock.environment)
        try:
            machines.manage("migrate", "--verbosity", "0")
            machines.manage("shell", "-v", "0", "-c", SETTLE + FORWARD)
            machines.start()
            clock.ahead(MINUTE)  # one that differs so much at the start is refused
            for _ in range(CUTS):
                machines.send(1)
                time.sleep(chance.uniform(0.0, 3.0))
                host = chance.choice(machines.hosts)
                host.cut_off()
                machines.send(2)
                machines.settle()
                host.connect(network)
                time.sleep(chance.uniform(0.0, 20.0))
            machines.send(2)
            machines.settle()
            sent = {(m["Message-ID"], m["Resent-Message-ID"]) for m in smtp.messages}
            expected = [f"<{n}@x>" for n in range(machines.count) for _ in ("jones", "all")]
            assert sorted(msgid for msgid, _ in sent) == sorted(expected)
            for site in machines.sites:
                assert "Traceback" not in site.log.read_text()
                assert end(site) == 0
        finally:
            machines.end()
            redis.kill()


@dataclass
class Letters:
    """Letters that come one after the other, and when each came and was sent on, by its number."""

    machines: CutOff
    smtp: SmtpServer
    came: dict[int, float] = field(default_factory=dict)
    sent: dict[int, float] = field(default_factory=dict)
    is_over: bool = False

    def bring(self) -> None:
        while not self.is_over and self.machines.count < ALWAYS_ALLOWED:  # more are a digest
            self.machines.send(1)
            self.came[self.machines.count - 1] = time.monotonic()
            time.sleep(2.0)

    def look(self) -> None:
        while not self.is_over or self.sent.keys() != self.came.keys():
            for message in self.smtp.messages:
                number = int(message["Message-ID"].strip("<>").partition("@")[0])
                self.sent.setdefault(number, time.monotonic())
            time.sleep(0.2)


def restart_in_turn(sites: list[Site], environment: dict[str, str]) -> None:
    """Stop each machine in order, and start it again, while the other serves."""
    for number, name in enumerate("ab"):
        assert end(sites[number], signal.SIGTERM) == 0
        assert "Traceback" not in sites[number].log.read_text()
        assert parts_of_health(sites[1 - number])
        data, named = sites[number].data, environment | {"TAPESTRY_MACHINE": name}
        sites[number] = start(data, "--parts", PARTS, **named)
        wait_ready(sites[number])


@pytest.mark.long
@pytest.mark.timeout(0)
def test_machines_that_are_restarted_in_turn_send_each_letter_once_and_none_late(
    data_dir, environment, capsys
):
    with running_smtp() as smtp:
        named = {**environment, "EMAIL_URL": smtp.url}
        machines = CutOff(data_dir, None, named, {})
        machines.manage("migrate", "--verbosity", "0")
        machines.manage("shell", "-v", "0", "-c", SETTLE + FORWARD)
        letters = Letters(machines, smtp)
        try:
            machines.sites += [
                start(data_dir, "--parts", PARTS, **named | {"TAPESTRY_MACHINE": name})
                for name in "ab"
            ]
            for site in machines.sites:
                wait_ready(site)
            with ThreadPoolExecutor(2) as beside:
                doing = [beside.submit(letters.bring), beside.submit(letters.look)]
                try:
                    for _ in range(ROUNDS):
                        restart_in_turn(machines.sites, named)
                finally:
                    letters.is_over = True
                for done in doing:
                    done.result(300)
            machines.settle()
            late = max(letters.sent[number] - came for number, came in letters.came.items())
            with capsys.disabled():
                print(f"{machines.count} letters, the latest {late:.1f} s after it came")
            assert late < LATE
            sent = sorted(message["Message-ID"] for message in smtp.messages)
            assert sent == sorted(f"<{n}@x>" for n in range(machines.count) for _ in "ja")
        finally:
            machines.end()
