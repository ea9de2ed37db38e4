"""GlusterFS of one server, and mounts of it by machines, each in a namespace of mounts of its own.

glusterd, a brick (a directory) ─┬─ mount of host a      all at the same path
                                 └─ mount of host b
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.servers.network import Host, Network, run

VOLUME = "mail"

SETTINGS = """volume management
    type mgmt/glusterd
    option working-directory {directory}/state
    option run-directory {directory}/run
    option glusterd-sockfile {directory}/run/socket
    option transport-type socket
    option transport.socket.bind-address {address}
    option transport.address-family inet
end-volume
"""


class Gluster:
    """The server, at an address of a network, with what it stores in a directory."""

    def __init__(self, network: Network, directory: Path) -> None:
        assert shutil.which("glusterd"), "GlusterFS is not here: make cluster installs it."
        self.address, self.directory = network.here, directory
        for name in ("state", "run", "brick"):
            (directory / name).mkdir()
        settings = SETTINGS.format(directory=directory, address=self.address)
        (directory / "glusterd.vol").write_text(settings)

    def start(self) -> None:
        """Start it; a volume that there is, is served again."""
        log = f"--log-file={self.directory}/glusterd.log"
        command = ["glusterd", "--no-daemon", f"--volfile={self.directory}/glusterd.vol", log]
        self.process = subprocess.Popen(command)
        deadline = time.monotonic() + 60
        while (
            "Volume Name" not in (said := self.say("volume", "info")) and "No volumes" not in said
        ):
            assert time.monotonic() < deadline, said
            time.sleep(0.1)

    def make_volume(self) -> None:
        brick = f"{self.address}:{self.directory}/brick"
        self.ask("volume", "create", VOLUME, brick, "force")
        self.ask("volume", "start", VOLUME)

    def say(self, *words: str) -> str:
        """Return what it says to a command, also that there is no answer."""
        socket = f"--glusterd-sock={self.directory}/run/socket"
        command = ["gluster", socket, "--mode=script", *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        return done.stdout + done.stderr

    def ask(self, *words: str) -> None:
        answer = self.say(*words)
        assert "success" in answer, (words, answer)

    def kill(self) -> None:
        """Kill it, as a loss of power would."""
        self.process.kill()
        self.process.wait()
        for path in (self.directory / "run" / "vols" / VOLUME).glob("*.pid"):
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(path.read_text()), signal.SIGKILL)
            path.unlink()


@contextmanager
def running_gluster(network: Network, directory: Path) -> Iterator[Gluster]:
    directory.mkdir()
    server = Gluster(network, directory)
    server.start()
    try:
        server.make_volume()
        yield server
    finally:
        server.kill()


class Mount:
    """The volume as a host has it at a path; what runs ``inside`` sees it there, and nobody else.

    A process of its own holds the namespace, so there can be another mount after one that ended.
    """

    def __init__(self, server: Gluster, host: Host, path: Path) -> None:
        self.server, self.path = server, path
        self.log = server.directory / f"{host.namespace}.log"
        wait = ("unshare", "--mount", "--propagation", "private", "sleep", "infinity")
        self._holder = subprocess.Popen([*host.inside, *wait])
        self.inside = (*host.inside, f"--mount=/proc/{self._holder.pid}/ns/mnt")
        self._client: subprocess.Popen[bytes] | None = None
        namespace = Path(f"/proc/{self._holder.pid}/ns/mnt")
        while namespace.readlink() == Path("/proc/self/ns/mnt").readlink():
            time.sleep(0.01)

    def begin(self, *options: str) -> None:
        """Mount it, with options of the client."""
        where = (f"--volfile-server={self.server.address}", f"--volfile-id={VOLUME}")
        client = ("glusterfs", "--no-daemon", f"--log-file={self.log}", *where, *options)
        self._client = subprocess.Popen([*self.inside, *client, str(self.path)])
        self.wait()

    def wait(self) -> None:
        """Wait until the server answers in it."""
        names = [*self.inside, "ls", self.path / ".meta" / "graphs" / "active", self.path]
        deadline = time.monotonic() + 60
        while (said := subprocess.run(names, check=False, capture_output=True)).returncode:
            assert time.monotonic() < deadline, said.stderr + self.log.read_bytes()[-2000:]
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill the client: whatever is asked of the mount is an error from then on."""
        if self._client is not None:
            self._client.kill()
            self._client.wait()
            self._client = None

    def end(self) -> None:
        """Kill the client, and unmount what it leaves."""
        self.kill()
        run(*self.inside, "umount", "--lazy", self.path)

    def remove(self) -> None:
        self.kill()
        self._holder.kill()
        self._holder.wait()


@contextmanager
def mounted(server: Gluster, hosts: Sequence[Host], path: Path) -> Iterator[list[Mount]]:
    """Yield the mounts of hosts, which are removed with all that is in their namespaces."""
    mounts = [Mount(server, host, path) for host in hosts]
    try:
        yield mounts
    finally:
        for mount in mounts:
            mount.remove()
