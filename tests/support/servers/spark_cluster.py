"""A Spark of several machines: a master, workers in hosts of a network, and Spark Connect.

    Connect (driver) ─┬─ master           here
                      ├─ worker           host a
                      └─ worker           host b

It is started as OPERATING says, by what is in the package of pyspark.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pyspark

from tapestry.core.processes.child_process import free_port, listens
from tests.support.servers.network import Host, Network

HOME = Path(pyspark.__file__).parent

SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.executor.heartbeatInterval": "5s",
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}


class SparkCluster:
    """What runs it, and ``remote``, where it is asked."""

    def __init__(self, network: Network, hosts: Sequence[Host], directory: Path) -> None:
        self.network, self.hosts, self.directory = network, hosts, directory
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.master = f"spark://{network.here}:{free_port()}"
        self.port, self.token = free_port(), secrets.token_urlsafe()
        # A name: clients send no token to the address of a host over plain text.
        self.remote = f"sc://localhost:{self.port}/;token={self.token}"

    def start(self) -> None:
        """Start all, and wait until Spark Connect listens."""
        address = ("--host", self.network.here, "--port", self.master.rpartition(":")[2])
        self._run("master", "master.Master", *address)
        for host in self.hosts:
            self.begin(host)
        self.begin_connect()

    def begin_connect(self) -> None:
        """Start Spark Connect, at its port, and wait until it listens."""
        settings = SETTINGS | {
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.driver.host": self.network.here,
        }
        given = (word for name, value in settings.items() for word in ("--conf", f"{name}={value}"))
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        memory = ("--driver-memory", "700m", "--executor-memory", "500m")
        submit = (HOME / "bin" / "spark-submit", "--class", server, "--master", self.master)
        self._spawn("connect", *submit, *memory, *given, "spark-internal")
        deadline = time.monotonic() + 300
        while not listens(self.port):
            assert self._processes["connect"].poll() is None, self.log_of("connect")
            assert time.monotonic() < deadline, self.log_of("connect")
            time.sleep(0.2)

    def begin(self, host: Host) -> None:
        """Start the worker of a host."""
        where = ["--host", host.address, "--work-dir", self.directory / host.namespace]
        of = ["--cores", "1", "--memory", "600m", *where, self.master]
        self._run(host.namespace, "worker.Worker", *of, inside=host.inside)

    def tasks_of(self, host: Host) -> int:
        """Return how many tasks of statements a host has done."""
        logs = (self.directory / host.namespace).glob("app-*/*/stderr")
        return sum(log.read_text().count("Finished task") for log in logs)

    def log_of(self, name: str) -> str:
        return (self.directory / f"{name}.log").read_text()

    def kill(self, name: str) -> None:
        """Kill one, and what it started."""
        process = self._processes.pop(name)
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.wait(60)

    def end(self) -> None:
        for name in list(self._processes):
            self.kill(name)

    def _run(self, name: str, of: str, *words: str | Path, inside: Sequence[str] = ()) -> None:
        program = (HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{of}")
        self._spawn(name, *inside, *program, "--webui-port", "0", *words)

    def _spawn(self, name: str, *command: str | Path) -> None:
        token = {"SPARK_CONNECT_AUTHENTICATE_TOKEN": self.token}
        with (self.directory / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                command,
                env=os.environ | token | {"SPARK_HOME": str(HOME)},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip


@contextmanager
def running_spark_cluster(
    network: Network, directory: Path, name: str = "spark"
) -> Iterator[SparkCluster]:
    """Run one with a worker in each of two hosts, whose names begin with that of the cluster."""
    hosts = [Host(network, f"{name}-{end}", at) for at, end in enumerate("ab", 2)]
    cluster = SparkCluster(network, hosts, directory)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()
        for host in hosts:
            host.remove()
