"""Everything running: started in order, watched, stopped together.

A part that ends again and again is not restarted for ever (a circuit breaker).
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from django.core.management import call_command

from filters.launch import processes, redis_server
from filters.launch.claim import claimed, publish
from filters.runtime import services, spark_restart
from filters.runtime.addresses import PROVEN, REMOTES, UNPROVEN
from tapestry.core.child_process import Child, stop
from tapestry.core.disk_space import has_room
from tapestry.core.errors import TapestryError
from tapestry.spark import server

log = logging.getLogger(__name__)

READY_SECONDS = 120.0

WAIT_FOR_ROOM = {
    "disk",
    "shared_window",
    "own_windows",
    "unproven_windows",
    "sources",
    "deliveries",
}
"""Parts that are not well, or not up to date, while the disk is full."""

SPARK_STARTS, SPARK_SECONDS = 5, 900.0
"""The first Spark may be started again so often in so many seconds; after that, everything stops.
The second is started again all the same, but only every ``SPARK_PAUSE`` seconds."""

SPARK_PAUSE = 30.0


class Interrupted(BaseException):
    """Somebody asked the stack to stop: Ctrl-C or SIGTERM."""


@dataclass
class Stack:
    """The parts that run; they stop in the reverse order of their start."""

    url: str
    children: list[Child] = field(default_factory=list)
    backing: list[Child] = field(default_factory=list)
    sparks: dict[str, server.SparkServer] = field(default_factory=dict)
    _spark_starts: dict[str, list[float]] = field(default_factory=dict)

    def check(self) -> None:
        """Raise TapestryError, with the last line of its log, if a part has ended."""
        paused = self.sparks.get(UNPROVEN)
        for child in [*self.children, *self.backing]:
            if not child.alive and (paused is None or child is not paused.child):
                raise TapestryError(
                    f"{child.describe_exit()}.", hint="Everything has been stopped."
                )

    def wait(self, timeout: float = READY_SECONDS) -> None:
        """Wait until /healthz answers 200; TapestryError if a part ends or it takes too long."""
        deadline = time.monotonic() + timeout
        while (complaint := unhealthy(self.url)) is not None:
            self.check()
            if time.monotonic() > deadline:
                raise TapestryError(
                    f"Tapestry is not ready after {timeout:.0f} seconds: {complaint}.",
                    hint="The logs of its parts lie in the data directory, under run/.",
                )
            time.sleep(0.4)

    def watch(self, turn: Callable[[], None]) -> None:
        """Stay until a part ends (TapestryError); call ``turn`` about twice a second.

        Only a Spark is started again, where it has ended or a worker asks for it.
        """
        while True:
            for name in list(self.sparks):
                self._start_spark_again(name)
            self.check()
            turn()
            time.sleep(0.5)

    def start_spark(self, run: Path, name: str) -> str:
        """Start one of the two Sparks, and return its remote; do not wait for it."""
        scratch = run / name
        scratch.mkdir(exist_ok=True)
        self._keep(run, name, server.start(scratch, unproven=name == UNPROVEN))
        return self.sparks[name].remote

    def _keep(self, run: Path, name: str, spark: server.SparkServer) -> None:
        self.sparks[name] = spark
        self.backing.insert(0, spark.child)
        publish(run, f"{name}.pid", str(spark.child.process.pid))

    def _start_spark_again(self, name: str) -> None:
        spark = self.sparks[name]
        run = spark.run.parent
        asked = spark_restart.again(run, name)
        if spark.child.alive and not asked.exists():
            return
        now = time.monotonic()
        starts = [at for at in self._spark_starts.get(name, ()) if now - at < SPARK_SECONDS]
        if len(starts) >= SPARK_STARTS:
            if name == PROVEN:
                spark.stop()  # and all that runs is stopped, for it has ended
                return
            if now - starts[-1] < SPARK_PAUSE:
                return
        self._spark_starts[name] = [*starts, now]
        asked.unlink(missing_ok=True)
        self.backing.remove(spark.child)
        self._keep(run, name, spark.restart())
        publish(run, f"{name}.remote", self.sparks[name].remote)

    def stop(self) -> None:
        """End every part: those that use Redis and Spark before these two."""
        stop(self.children[::-1])
        stop(self.backing[::-1], grace=3.0)


@contextmanager
def running(data: Path, port: int, prepare: Callable[[], None]) -> Iterator[Stack]:
    """Start everything on ``data`` and yield it once it serves; stop it all at the end.

    The database is migrated and ``prepare`` is called while Spark starts; nothing is due before
    both are done.  Raises TapestryError for everything that a person can put right.
    """
    must_be_free(port)
    stack = Stack(f"http://127.0.0.1:{port}/")
    with claimed(data) as run, interruptible():
        try:
            _start(stack, data, run, port, prepare)
            yield stack
        finally:
            stack.stop()


def _start(stack: Stack, data: Path, run: Path, port: int, prepare: Callable[[], None]) -> None:
    remotes = {name: os.environ.get(variable) for name, variable in REMOTES.items()}
    if not remotes[PROVEN]:
        remotes[PROVEN] = stack.start_spark(run, PROVEN)
    redis = redis_server.start(run)
    if redis.child is not None:
        stack.backing.append(redis.child)
    call_command("migrate", verbosity=0, interactive=False)
    redis.wait()
    publish(run, "redis.url", redis.url)
    if not remotes[UNPROVEN]:
        started = PROVEN in stack.sparks
        remotes[UNPROVEN] = stack.start_spark(run, UNPROVEN) if started else remotes[PROVEN]
    for name, remote in remotes.items():
        publish(run, f"{name}.remote", str(remote))
    env = processes.environment(data, redis.url, stack.url)
    stack.children.append(processes.start_web(run, env, port))
    prepare()
    for spark in stack.sparks.values():
        if not spark.unproven:
            spark.wait()
    for child in processes.start_background(run, env):
        stack.children.append(child)
    stack.wait()


def must_be_free(port: int) -> None:
    """Raise TapestryError if something serves on the port already, or may not be served."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OverflowError as error:
            raise TapestryError(f"{port} is not a port.", hint="Name one below 65536.") from error
        except OSError as error:
            raise TapestryError(
                f"Port {port} cannot be used ({error.strerror}).",
                hint=f"Name another with --port N, such as --port {port % 60000 + 1}.",
            ) from error


def unhealthy(url: str) -> str | None:
    """Return what is not well yet, or None if /healthz answers that all is well.

    A disk without room is no reason to stop: what needs none goes on, and the rest waits.
    """
    try:
        with urllib.request.urlopen(f"{url}healthz", timeout=10):
            return None
    except urllib.error.HTTPError as error:
        try:
            unwell = {
                name: part for name, part in json.load(error)["parts"].items() if not part["ok"]
            }
        except (ValueError, KeyError):
            return "the web server answers with an error"
    except OSError:
        return "the web server does not answer"
    waiting = {"disk"} if has_room(services.data()) else WAIT_FOR_ROOM
    if "disk" in unwell and unwell.keys() <= waiting:
        log.warning("%s", unwell["disk"]["says"])
        return None
    return " ".join(f"{name}: {part['says']}" for name, part in unwell.items())


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn the first Ctrl-C, SIGTERM or SIGHUP into Interrupted; the rest wait for the end."""
    received: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            raise Interrupted

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heeded = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
