"""The services of a compose file, where no container engine runs: an image's root and a network.

Each has a namespace of the network, on one bridge, where its name is known to the others.  What it
runs is in its own root, by `buildah run --isolation chroot`, on the volumes that the file names.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

from tests.support.servers.network import Host, Network, run

NETWORK = Network("tapestry-net", "10.89.35")

VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?::-([^}]*)|:\?[^}]*)?\})")


def buildah(*arguments: str | Path) -> str:
    return run("buildah", *arguments)


def read_compose(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Read a compose file, with its variables."""

    def value(found: re.Match[str]) -> str:
        escaped, name, default = found.groups()
        return escaped or environment.get(name) or default or ""

    content: dict[str, Any] = yaml.safe_load(VARIABLE.sub(value, path.read_text()))
    return content


@dataclass
class Service:
    """A service: its container, the end of its address, and how it is run."""

    name: str
    asked: dict[str, Any]
    container: str
    at: int
    volumes: Path
    process: subprocess.Popen[bytes] | None = None
    image: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        inspected = json.loads(buildah("inspect", self.container))
        self.image = inspected["OCIv1"]["config"]
        root = Path(buildah("mount", self.container))
        for volume in self.asked.get("volumes", ()):
            name, inside = volume.split(":")
            if not (self.volumes / name).exists():  # as an engine does: like what is there
                run("cp", "--archive", root / inside.lstrip("/"), self.volumes / name)
        buildah("umount", self.container)
        self.host = Host(NETWORK, self.name, self.at)

    def command(self, *words: str, **environment: str) -> list[str]:
        """Return what runs words in the container, with its environment, volumes and network."""
        volumes = (volume.split(":") for volume in self.asked.get("volumes", ()))
        mounts = [f"--volume={self.volumes / name}:{inside}" for name, inside in volumes]
        variables = self.asked.get("environment", {}) | environment
        given = [f"--env={name}={value}" for name, value in variables.items()]
        user = [f"--user={self.asked['user']}"] if "user" in self.asked else []
        return [
            *self.host.inside,
            "buildah", "run", "--isolation=chroot", *user, *mounts, *given, self.container, "--",
            *words,
        ]  # fmt: skip

    def start(self, log: Path) -> None:
        """Run its entry point with the command of the file, or with that of the image."""
        words: Sequence[str] = self.asked.get("command", self.image.get("Cmd", []))
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                self.command(*self.image.get("Entrypoint", []), *words),
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip

    def is_healthy(self) -> bool:
        """Return whether the check of its health, in the container, says so."""
        kind, *words = self.asked["healthcheck"]["test"]
        assert kind == "CMD"
        return (
            subprocess.run(self.command(*words), check=False, capture_output=True).returncode == 0
        )

    def stop(self) -> int:
        """Have its first process end; return its exit code."""
        assert self.process is not None
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.Error):
                if not process.cmdline()[0].startswith("buildah"):
                    process.send_signal(signal.SIGTERM)
                    break
        try:
            return self.process.wait(60)
        finally:
            self.process = None

    def remove(self) -> None:
        """End all that runs in it, and remove its container and its network."""
        if self.process is not None:
            for process in psutil.Process(self.process.pid).children(recursive=True):
                with suppress(psutil.Error):
                    process.kill()
            self.process.wait(60)
        self.host.remove()
        buildah("rm", self.container)


class Composition:
    """The services of a compose file, each started, stopped and asked by its name."""

    def __init__(
        self, file: Path, volumes: Path, images: Mapping[str, str], **environment: str
    ) -> None:
        """Make a container for each, of an image that stands for the one that the file names."""
        self.services: dict[str, Service] = {}
        self._volumes = volumes
        asked = read_compose(file, os.environ | environment)["services"]
        NETWORK.add()
        hosts = [f"--add-host={name}:{NETWORK.prefix}.{at}" for at, name in enumerate(asked, 2)]
        for at, (name, service) in enumerate(asked.items(), 2):
            image = images.get(service["image"], service["image"])
            container = buildah("from", *hosts, image)
            made = Service(name, service, container, at, volumes)
            self.services[name] = made

    def up(self) -> None:
        """Start all at once, in the order of the file."""
        for name, service in self.services.items():
            service.start(self.log_of(name))

    def down(self) -> dict[str, int]:
        """Stop all, in the order of the file; return the exit code of each."""
        return {name: service.stop() for name, service in self.services.items()}

    def log_of(self, name: str) -> Path:
        return self._volumes / f"{name}.log"

    def remove(self) -> None:
        """Remove all but the volumes."""
        for service in self.services.values():
            service.remove()
        NETWORK.remove()
