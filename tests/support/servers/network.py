"""A network of its own on this machine: a bridge, and hosts with a namespace each."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def run(*command: str | Path) -> str:
    """Run a command; return what it prints."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout.strip()


@dataclass(frozen=True)
class Network:
    """A bridge by its name, and the first three bytes of its addresses; this machine has .1."""

    bridge: str
    prefix: str

    @property
    def here(self) -> str:
        return f"{self.prefix}.1"

    def add(self) -> None:
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "address", "add", f"{self.here}/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")

    def remove(self) -> None:
        run("ip", "link", "delete", self.bridge)


@contextmanager
def running_network(bridge: str, prefix: str) -> Iterator[Network]:
    network = Network(bridge, prefix)
    network.add()
    try:
        yield network
    finally:
        network.remove()


class Host:
    """A namespace of the network by its name, on a bridge; ``at`` is the end of its address."""

    def __init__(self, network: Network, name: str, at: int) -> None:
        self.address = f"{network.prefix}.{at}"
        self.namespace = f"tapestry-{name}"
        self.inside = ("nsenter", f"--net=/run/netns/{self.namespace}")
        self._outer = f"tap-{name}"[:15]
        run("ip", "netns", "add", self.namespace)
        peer = ("peer", "eth0", "netns", self.namespace)
        run("ip", "link", "add", self._outer, "type", "veth", *peer)
        run("ip", "link", "set", self._outer, "master", network.bridge, "up")
        within = ("ip", "-n", self.namespace)
        run(*within, "address", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run(*within, "link", "set", device, "up")

    def cut_off(self) -> None:
        """Cut it off: what is sent to it, or from it, is lost, and nobody is told."""
        run("ip", "link", "set", self._outer, "nomaster")

    def connect(self, network: Network) -> None:
        run("ip", "link", "set", self._outer, "master", network.bridge)

    def remove(self) -> None:
        run("ip", "link", "delete", self._outer)  # without it, it lives on for a moment
        run("ip", "netns", "delete", self.namespace)
