"""What a simulated site has in place of the outside: time, chance, a queue, servers, an engine.

Everything here is put in place in a process that was just forked, before it does anything.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import time_machine

Ask = Callable[[str, Any], Any]
"""Asks the coordinator something, and returns its answer."""


class SiteClock:
    """The time of a site: what the coordinator says, and what the site itself waits.

    ``now`` is the wall clock, which may be set back; ``steady`` only grows.  Each look at the
    steady clock takes a microsecond, so that nobody waits for ever.
    """

    def __init__(self) -> None:
        self.now = self.steady = 0
        self._travel = time_machine.travel(0.0, tick=False)
        self._wall = self._travel.start()

    def set(self, now: int, steady: int) -> None:
        """Let it be this time; nothing moves the steady clock back."""
        self.now, self.steady = now, max(steady, self.steady)
        # Half a microsecond more: what a float rounds off does not reach the microsecond before.
        self._wall.move_to((now + 0.5) / 1e6, tick=False)

    def monotonic(self) -> float:
        self.steady += 1
        return self.steady / 1e6

    def sleep(self, seconds: float) -> None:
        waited = max(0, int(seconds * 1e6))
        self.set(self.now + waited, self.steady + waited)


def give_time(modules: list[Any]) -> SiteClock:
    """Have every module read the simulated clocks, and sleep in simulated time."""
    clock = SiteClock()
    real = {name: getattr(time, name) for name in ("monotonic", "perf_counter", "sleep")}
    ours = {"monotonic": clock.monotonic, "perf_counter": clock.monotonic, "sleep": clock.sleep}
    for name, replacement in ours.items():
        setattr(time, name, replacement)
        for module in modules:
            if getattr(module, name, None) is real[name]:
                setattr(module, name, replacement)
    return clock


def give_chance(seed: str) -> None:
    """Have all that is drawn by lot be drawn from a seed."""
    random.seed(seed)
    lots = random.Random(f"{seed} secrets")
    os.urandom = lambda size: lots.randbytes(size)
    random._urandom = os.urandom


def give_queue(tell: Callable[[str, Any], None]) -> None:
    """Have the tasks that are sent go to the coordinator, and Redis be a thing in memory."""
    import fakeredis
    import redis

    from filters.site.work import rate_limits
    from filters.site.work.queues import answers
    from tapestry.celery import app

    server = fakeredis.FakeServer()

    def send_task(name: str, args: Any = None, kwargs: Any = None, **options: Any) -> None:
        kept = {
            key: options[key]
            for key in ("queue", "countdown", "expires", "task_id")
            if options.get(key)
        }
        tell("task", {"name": name, "args": list(args or ()), "kwargs": kwargs or {}, **kept})

    app.send_task = send_task
    redis.Redis.from_url = classmethod(
        lambda cls, url, **options: fakeredis.FakeRedis(
            server=server, decode_responses=options.get("decode_responses", False)
        )
    )
    answers._server = lambda: fakeredis.FakeRedis(server=server, decode_responses=True)
    rate_limits._redis_storage = lambda: None


def give_http(ask: Ask) -> None:
    """Have requests to servers that people name be answered by the coordinator."""
    from tapestry.deliver.http import post

    @contextmanager
    def requested(
        method: str, target: Any, body: bytes | None, headers: Any, **_: Any
    ) -> Iterator[Any]:
        sent = {"method": method, "host": target.host, "path": target.path, "body": body}
        answer = ask("http", sent | {"headers": dict(headers)})
        if answer["answer"] in ("hang", "cut"):
            raise TimeoutError("timed out")
        yield _Response(answer["status"], answer.get("text", "").encode())

    post.requested = requested


class _Response:
    """As much of an HTTP response as is read."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status, self._body = status, body

    def read(self, size: int) -> bytes:
        return self._body[:size]

    def getheader(self, name: str) -> None:
        return None


def give_engine(pause: Callable[[], None], spark: str) -> None:
    """Have statements be answered by sqlite, or by the Spark at an address."""
    from filters.runs import canary
    from filters.site.work.parts import services
    from tests.simulation import engine

    engine.pause = pause
    engine_on = partial(engine.spark_on, spark) if spark else engine.engine_on
    services.engine_on = services.unproven_engine_on = engine_on
    canary.check_spark = lambda *_: None


def keep_facts() -> None:
    """Keep all that is recorded of sources: the auditor is told of it at settled points."""
    from filters.runs.store import waiting

    waiting._forget = lambda: None


def give_no_threads() -> None:
    """Fail if the product starts a thread of Python: nothing in a world runs beside something."""
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        target = getattr(thread, "_target", None)
        print("a thread was started:", target, file=sys.stderr)
        real(thread)

    threading.Thread.start = start
