"""A site of two machines, each with a mount of its own of one GlusterFS, of which parts go away.

host a: mount ─┐
               ├─ bridge ─ GlusterFS, PostgreSQL, Redis, SMTP
host b: mount ─┘
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.live.test_several_machines import FORWARD, LETTER, SETTLE, CutOff
from tests.support.paths import ROOT
from tests.support.servers.gluster import Gluster, Mount, mounted, running_gluster
from tests.support.servers.network import Host, running_network
from tests.support.servers.postgres import running_postgres
from tests.support.servers.redis_process import Redis
from tests.support.servers.site import end, environment_for, start, wait_ready
from tests.support.servers.smtp import running_smtp

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(0)]

FRESH = ("--attribute-timeout=0", "--entry-timeout=0")
NOT_CONNECTED = "Transport endpoint is not connected"


@dataclass
class OnMounts(CutOff):
    """Two machines whose directory is on mounts; commands run on the second of them."""

    mounts: list[Mount] = field(default_factory=list)
    letters: Path = Path()

    def inside(self, number: int) -> tuple[str, ...]:
        return (*self.mounts[number].inside, f"--wd={ROOT}")

    def command(self, number: int, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command on a machine."""
        return subprocess.run(
            [*self.inside(number), sys.executable, "manage.py", *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
            env=environment_for(self.data) | self.environment,
        )

    def manage(self, *words: str) -> str:
        done = self.command(1, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def send(self, count: int) -> None:
        for _ in range(count):
            self.manage("ingest", str(self.letter()))
            self.count += 1

    def letter(self) -> Path:
        """Write the next letter to a file of this machine."""
        file = self.letters / f"{self.count}.eml"
        file.write_text(LETTER.format(name=self.count))
        return file

    def start_machine(self, number: int) -> None:
        name = "ab"[number]
        named = {**self.environment, "TAPESTRY_MACHINE": name}
        started = start(self.data, inside=self.inside(number), **named)
        self.sites[number : number + 1] = [started]

    def start(self) -> None:
        for number in range(2):
            self.start_machine(number)
        for site in self.sites:
            wait_ready(site)


def is_refused_while_it_remembers(machines: OnMounts, server: Gluster) -> None:
    """See that `up` refuses a mount as it is without options, and what its volume remembers."""
    mount = machines.mounts[0]
    for options in ((), FRESH):
        mount.begin(*options)
        machines.start_machine(0)
        code, said = machines.sites[0].ended()
        assert code == 1 and "may overlook what another has written" in said, said
        assert "Traceback" not in said
        mount.end()
    server.ask("volume", "set", "mail", "performance.stat-prefetch", "off")


def loses_its_mount(machines: OnMounts) -> None:
    """Kill the client of a machine: the other goes on, and both once it has a mount again."""
    mount = machines.mounts[0]
    mount.kill()
    machines.send(2)
    machines.settle()
    mount.end()
    mount.begin(*FRESH)
    machines.send(1)
    machines.settle()


def loses_the_server(machines: OnMounts, server: Gluster) -> None:
    """Kill the server: what is asked meanwhile is one sentence, and all goes on after it."""
    server.kill()
    refused = machines.command(1, "ingest", str(machines.letter()))
    assert refused.returncode == 1 and NOT_CONNECTED in refused.stderr, refused
    assert "Traceback" not in refused.stderr
    time.sleep(5.0)
    server.start()
    for mount in machines.mounts:
        mount.wait()
    machines.send(2)
    machines.settle()


def test_machines_on_a_network_file_system_lose_mounts_and_server_and_no_message(
    data_dir: Path, tmp_path: Path
) -> None:
    with (
        running_network("tapestry-fs", "10.89.39") as network,
        running_postgres(host=network.here) as database,
        running_smtp(host=network.here) as smtp,
        running_gluster(network, tmp_path / "gluster") as server,
    ):
        redis = Redis(tmp_path, network.here)
        redis.start()
        environment = {
            **{"DATABASE_URL": database, "REDIS_URL": redis.url, "EMAIL_URL": smtp.url},
            "TAPESTRY_WINDOW_PARTS": "2",
        }
        hosts = [Host(network, name, at) for at, name in enumerate(("fs-a", "fs-b"), 2)]
        machines = OnMounts(data_dir, network, environment, {}, hosts=hosts, letters=tmp_path)
        try:
            with mounted(server, hosts, data_dir) as machines.mounts:
                is_refused_while_it_remembers(machines, server)
                for mount in machines.mounts:
                    mount.begin(*FRESH)
                machines.manage("migrate", "--verbosity", "0")
                machines.manage("shell", "-v", "0", "-c", SETTLE + FORWARD)
                machines.start()
                machines.send(1)
                machines.settle()
                loses_its_mount(machines)
                loses_the_server(machines, server)
                sent = {(m["Message-ID"], m["Resent-Message-ID"]) for m in smtp.messages}
                expected = [f"<{n}@x>" for n in range(machines.count) for _ in ("jones", "all")]
                assert sorted(msgid for msgid, _ in sent) == sorted(expected)
                for site in machines.sites:
                    assert "Traceback" not in site.log.read_text()
                    assert end(site, signal.SIGTERM) == 0
                machines.manage("check-data")
        finally:
            machines.end()
            redis.kill()
