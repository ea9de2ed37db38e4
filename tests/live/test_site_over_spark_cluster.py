"""One site on two machines over a Spark of two: each is cut off or killed, and comes back.

engine-a, engine-b ── bridge ── site-a, site-b        each in a namespace of the network
                        └─ Spark's master, Spark Connect behind TLS, PostgreSQL, Redis, SMTP

Letters come in twos of one subject, and that a letter has a twin only a scan of all mail can tell:
Spark's work in each window.
"""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

import pytest
import trustme

from tests.live.test_several_machines import PARTS, CutOff
from tests.support.servers.network import Host, Network, running_network
from tests.support.servers.postgres import running_postgres
from tests.support.servers.redis_process import Redis
from tests.support.servers.site import end, start, wait_ready
from tests.support.servers.smtp import running_smtp
from tests.support.servers.spark_cluster import SparkCluster, running_spark_cluster
from tests.support.servers.tls_proxy import tls_proxy

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(0)]

WORKERS = "shared+own+previews sources+listener+mail+outbound"
"""Lanes share processes, so that all this runs on two cores."""

OLD, OLD_TWINS = 6_000, 6
"""Letters before the first filter, more than are sent along with a statement; and the twins."""

SETTLE = """
from filters.authoring.lifecycle import install
from filters.delivery.models import Address, Destination
from filters.people.models import User
joe = User.objects.create_user("joe")
address = Address.objects.create(owner=joe, email="joe@x.org", confirmed_at=1)
Destination.objects.create(owner=joe, kind="forward", name="forward", address=address)
install(joe, "from jones", name="jones")
install(joe, "EXISTS (r: r.subject = m.subject AND r.msgid != m.msgid)", name="twins")
"""


def letter(name: str, sender: str, subject: str) -> str:
    return f"Message-ID: <{name}@x>\nFrom: {sender}@x.org\nSubject: {subject}\n\nHello.\n\n"


def old_mail(path: Path) -> Path:
    """Write an archive in which a few letters have twins."""
    letters = (
        letter(f"old-{n}", "ann", f"old {n // 2 if n < OLD_TWINS else n}") for n in range(OLD)
    )
    path.write_text("".join(f"From ann Sat Jan 31 12:00:00 2026\n{text}" for text in letters))
    return path


@dataclass
class OverSpark(CutOff):
    """Two machines of one site that ask a Spark of several."""

    def start(self) -> None:
        self.hosts = [Host(self.network, f"site-{name}", at) for at, name in enumerate("ab", 4)]
        self.sites = []
        for number in range(2):
            self.start_machine(number)

    def start_machine(self, number: int) -> None:
        """Start what runs on one, and wait until it serves."""
        environment = self.environment | {"TAPESTRY_MACHINE": "ab"[number]}
        inside = self.hosts[number].inside
        site = start(self.data, "--parts", PARTS, inside=inside, **environment)
        self.sites[number : number + 1] = [site]
        wait_ready(site)

    def send_twins(self) -> None:
        """Bring two letters of one subject, one after the other."""
        for _ in range(2):
            name, subject = str(self.count), f"new {self.count // 2}"
            file = self.data / f"{name}.eml"
            file.write_text(letter(name, "jones", subject))
            self.manage("ingest", str(file))
            self.count += 1

    def expected(self) -> list[list[str]]:
        new = [[name, f"{n}@x"] for name in ("jones", "twins") for n in range(self.count)]
        return new + [["twins", f"old-{n}@x"] for n in range(OLD_TWINS)]


@contextmanager
def behind_tls(
    cluster: SparkCluster, network: Network, directory: Path
) -> Iterator[dict[str, str]]:
    """Serve Spark Connect to the network as OPERATING says; yield what says so to a site."""
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(network.here).configure_cert(tls)
    tls.set_alpn_protocols(["h2"])
    file = directory / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    with tls_proxy(cluster.port, tls, network.here) as port:
        remote = f"sc://{network.here}:{port}/;use_ssl=true;token={cluster.token}"
        yield {
            **{"SPARK_REMOTE": remote, "SSL_CERT_FILE": str(file)},
            "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(file),  # that of this process would count
        }


@pytest.fixture
def world(
    data_dir: Path, tmp_path: Path
) -> Iterator[tuple[OverSpark, SparkCluster, Callable[[], list[Message]]]]:
    with ExitStack() as until_end:
        enter = until_end.enter_context
        network = enter(running_network("tapestry-site", "10.89.38"))
        database = enter(running_postgres(host=network.here))
        smtp = enter(running_smtp(host=network.here))
        cluster = enter(running_spark_cluster(network, tmp_path, "engine"))
        spark = enter(behind_tls(cluster, network, tmp_path))
        redis = Redis(tmp_path, network.here)
        redis.start()
        until_end.callback(redis.kill)
        environment = {"DATABASE_URL": database, "REDIS_URL": redis.url, "EMAIL_URL": smtp.url}
        environment |= {"TAPESTRY_WORKERS": WORKERS, "TAPESTRY_TICK": "3"}
        machines = OverSpark(data_dir, network, environment | spark, {})
        until_end.callback(machines.end)
        yield machines, cluster, lambda: list(smtp.messages)


def test_a_site_over_a_spark_of_several_machines_goes_on_without_any_of_them(
    world: tuple[OverSpark, SparkCluster, Callable[[], list[Message]]], tmp_path: Path
) -> None:
    machines, cluster, sent = world
    spark_a, spark_b = cluster.hosts
    machines.manage("migrate", "--verbosity", "0")
    machines.manage("ingest", str(old_mail(tmp_path / "old.mbox")))
    machines.start()
    machines.manage("shell", "-v", "0", "-c", SETTLE)
    machines.settle()
    assert cluster.tasks_of(spark_a) + cluster.tasks_of(spark_b), "Spark computed nothing"
    site_b = machines.hosts[1]

    def with_loss(lose: Callable[[], object], restore: Callable[[], object]) -> None:
        done = sum(map(cluster.tasks_of, cluster.hosts))
        lose()
        machines.send_twins()
        machines.settle()
        assert sum(map(cluster.tasks_of, cluster.hosts)) > done, "Spark computed nothing"
        restore()

    network = machines.network
    with_loss(spark_a.cut_off, lambda: spark_a.connect(network))
    with_loss(lambda: cluster.kill(spark_b.namespace), lambda: cluster.begin(spark_b))
    with_loss(machines.sites[0].process.kill, lambda: machines.start_machine(0))
    with_loss(site_b.cut_off, lambda: site_b.connect(network))
    with_loss(lambda: None, lambda: None)
    times = Counter(message["Message-ID"] for message in _sendings(sent()))
    old, new = range(OLD_TWINS), range(machines.count)
    assert times == {f"<old-{n}@x>": 1 for n in old} | {f"<{n}@x>": 2 for n in new}
    for site in machines.sites:
        assert "Traceback" not in site.log.read_text()
        assert end(site) == 0


def _sendings(messages: list[Message]) -> list[Message]:
    """Return each sending once: SMTP takes what is sent again under the same Message-ID twice."""
    return list({(m["Message-ID"], m["Resent-Message-ID"]): m for m in messages}.values())
