"""A Redis that is killed and started anew, empty, at the same address."""

import subprocess
from pathlib import Path

from filters.site.launch import redis_server
from tapestry.core.processes.child_process import free_port


class Redis:
    """A Redis on a port of its own, which keeps nothing."""

    def __init__(self, directory: Path, host: str = "127.0.0.1") -> None:
        self.port = free_port()
        self.command = [redis_server.binary(), "--port", str(self.port), "--bind", host]
        self.command += ["--save", "", "--dir", str(directory), "--protected-mode", "no"]
        self.url = f"redis://{host}:{self.port}/0"

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        redis_server.RedisServer(self.url, None).wait(120)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
