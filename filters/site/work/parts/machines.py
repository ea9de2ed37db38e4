"""The machines that run parts of this site, where it has several, as each tells Redis.

`up` ─ every few seconds ─> the hash KEY: its name, and when, what runs there, what has ended
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import redis
from django.conf import settings

from filters.site.work.parts import services
from filters.site.work.parts.endings import Ending
from tapestry.core.clock import DAY, MINUTE, SECOND, wall_clock
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.site_lock import site_lock

KEY = "tapestry:machines"

EVERY = 10.0
"""Seconds between two words of a machine."""

SILENCE = MINUTE
"""How long a machine may say nothing."""

FORGOTTEN = DAY
"""How long a machine that says nothing, and was not stopped, is still asked for."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, what it said last and when: which parts run there, and which are not well."""

    name: str
    at: int
    kinds: tuple[str, ...]
    endings: tuple[Ending, ...]

    def silent_seconds(self) -> int:
        """Return for how many seconds it has said nothing; 0 if that is not too long."""
        silent = wall_clock() - self.at
        return silent // SECOND if silent > SILENCE else 0


@contextmanager
def alone(part: str) -> Iterator[None]:
    """Be the only machine at work with a part; wait until no other is."""
    if not settings.MACHINE:
        yield
        return
    with site_lock(services.data() / "run" / f"{part}.lock", wait=FOREVER):
        yield


def tell(name: str, kinds: Collection[str], endings: Collection[Ending]) -> None:
    """Say that a machine runs; raises RedisError."""
    parts = {"kinds": [*kinds], "endings": [asdict(ending) for ending in endings]}
    with _server() as server:
        server.hset(KEY, name, json.dumps({"at": wall_clock(), **parts}))


def leave(name: str) -> None:
    """Say that a machine was stopped: nobody waits for it."""
    with _server() as server:
        server.hdel(KEY, name)


def known() -> list[Machine]:
    """Return the machines that said something within a day, by name; raises RedisError."""
    with _server() as server:
        machines = {str(name): json.loads(text) for name, text in server.hgetall(KEY).items()}
    oldest = wall_clock() - FORGOTTEN
    return [
        Machine(
            name,
            content["at"],
            tuple(content["kinds"]),
            tuple(map(Ending.of, content["endings"])),
        )
        for name, content in sorted(machines.items())
        if content["at"] > oldest
    ]


@contextmanager
def _server() -> Iterator[redis.Redis]:
    with redis.Redis.from_url(
        services.redis_url(), socket_connect_timeout=1, socket_timeout=1, decode_responses=True
    ) as server:
        yield server
