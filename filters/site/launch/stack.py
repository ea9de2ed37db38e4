"""Everything running: started in order, looked after, stopped together.

A part that cannot start at first ends everything, with a sentence; after that, none does.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.db import OperationalError, close_old_connections, connection
from redis import RedisError

from filters.site.launch import processes, redis_server
from filters.site.launch.claim import claimed, publish
from filters.site.launch.parts import Part, Parts
from filters.site.launch.several_machines import require_shared
from filters.site.launch.web_server import LOOPBACK, places
from filters.site.settings.workers import PARTS, WEB, WORKER
from filters.site.work.db.database import make_database_ready
from filters.site.work.parts import endings, machines, services, spark_restart
from filters.site.work.parts.addresses import PROVEN, REMOTES, UNPROVEN, spark_remote
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import has_room
from tapestry.core.processes.child_process import Child, stop
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


class Interrupted(BaseException):
    """Somebody asked the stack to stop: Ctrl-C or SIGTERM."""


@dataclass
class Stack:
    """The parts that run, where they are, and where they write."""

    run: Path
    data: Path
    url: str
    kinds: Collection[str] = PARTS
    parts: Parts = field(default_factory=Parts)
    sparks: dict[str, server.SparkServer] = field(default_factory=dict)
    redis_url: str = ""
    _told: list[endings.Ending] = field(default_factory=list)
    _next_word: float = 0.0

    def check(self) -> None:
        """Raise TapestryError, with the last line of its log, if a part has ended.

        The second Spark may: it is started again later.
        """
        second = self.sparks.get(UNPROVEN)
        for part in self.parts:
            is_second = second is not None and part.child is second.child
            if part.child is not None and not part.child.alive and not is_second:
                raise TapestryError(
                    f"{part.child.describe_exit()}.", hint="Everything has been stopped."
                )

    def wait(self, timeout: float = READY_SECONDS) -> None:
        """Wait until /healthz answers 200; TapestryError if a part ends or it takes too long.

        A Spark that is needed at once is started, and waited for.
        """
        deadline = time.monotonic() + timeout
        while (complaint := self.complaint()) is not None:
            self.check()
            self.parts.tend()
            if time.monotonic() > deadline:
                raise TapestryError(
                    f"Tapestry is not ready after {timeout:.0f} seconds: {complaint}.",
                    hint="The logs of its parts lie in the data directory, under run/.",
                )
            time.sleep(0.4)
        self.parts.tend()
        if PROVEN in self.sparks:
            self.sparks[PROVEN].wait()

    def complaint(self) -> str | None:
        """Return what is not well yet, or None; of several machines each waits only for itself."""
        if not settings.MACHINE:
            return unhealthy(self.url)
        if WEB not in self.kinds or answers(self.url):
            return None
        return "the web server does not answer"

    def watch(self, turn: Callable[[], None]) -> None:
        """Stay for ever; start again what has ended, and call ``turn``, about twice a second.

        An error of ``turn`` is logged, and stops nothing.
        """
        while True:
            self.parts.tend()
            self._tell()
            self._tell_other_machines()
            try:
                turn()
            except Exception:
                log.exception("The parts go on, though what is done beside them failed.")
                close_old_connections()
            time.sleep(0.5)

    def _tell(self) -> None:
        """Have the health page say which parts are not well, where that has changed."""
        unwell = self.parts.endings()
        if (told := [replace(each, since=0) for each in unwell]) == self._told:
            return
        try:
            publish(self.run, endings.NAME, endings.dump(unwell))
        except OSError as error:
            log.warning("The health page cannot be told what has ended: %s", error)
        else:
            self._told = told

    def _tell_other_machines(self) -> None:
        """Say that this machine runs, if it is one of several, and what is not well here."""
        if not settings.MACHINE or time.monotonic() < self._next_word:
            return
        self._next_word = time.monotonic() + machines.EVERY
        try:
            machines.tell(settings.MACHINE, self.kinds, self.parts.endings())
        except (RedisError, OSError) as error:
            log.warning("Other machines cannot be told that this one runs: %s", error)

    def leave(self) -> None:
        """Say that this machine was stopped; then stop its parts."""
        if settings.MACHINE:
            with suppress(RedisError, OSError):
                machines.leave(settings.MACHINE)
        self.parts.stop()

    def start_redis(self) -> redis_server.RedisServer:
        """Start Redis, or use that of REDIS_URL, and return it; do not wait for it."""
        redis = redis_server.start(self.run)
        self.redis_url = redis.url
        if redis.child is not None:
            self.parts.redis = Part("Redis", redis.child.log, self._start_redis_again, redis.child)
            self.parts.behind.append(self.parts.redis)
        return redis

    def _start_redis_again(self) -> Child:
        """Return a Redis that answers, with a new port and a new password.

        What uses it is started after it, and whoever has taken the port meanwhile is sent nothing
        that is still good.
        """
        redis, child = redis_server.start_own(self.run, again=True)
        try:
            redis.wait()
            publish(self.run, "redis.url", redis.url)
        except BaseException:
            stop([child])
            raise
        self.redis_url = redis.url
        return child

    def add_spark(self, name: str) -> None:
        """Add one of the two Sparks, which is started when a statement first needs it."""
        scratch, is_second = self.run / name, name == UNPROVEN
        scratch.mkdir(exist_ok=True)

        def start() -> Child:
            before = self.sparks.get(name)
            spark = before.restart() if before else server.start(scratch, unproven=is_second)
            self.sparks[name] = spark
            publish(self.run, f"{name}.pid", str(spark.child.process.pid))
            publish(self.run, f"{name}.remote", spark.remote)
            return spark.child

        wanted, again = (of(self.run, name) for of in (spark_restart.wanted, spark_restart.again))
        title, log_of = server.NAMES[is_second], scratch / server.LOG
        self.parts.behind.insert(0, Part(title, log_of, start, wanted=wanted, asked=again))

    def start_program(self, program: processes.Program) -> None:
        """Start a part that is Python."""

        def start(again: bool = True) -> Child:
            env = processes.environment(self.data, self.redis_url, self.url)
            return program.start(self.run, env, again)

        child = start(again=False)
        self.parts.others.append(Part(child.name, child.log, start, child))


@contextmanager
def running(
    data: Path,
    port: int,
    prepare: Callable[[], None],
    kinds: Collection[str] = PARTS,
    address: str = LOOPBACK,
) -> Iterator[Stack]:
    """Start everything on ``data`` and yield it once it serves; stop it all at the end.

    On one of several machines that is all of Spark, and some ``kinds`` of what is Python.  Pages
    are served at ``address`` beside loopback.  The database is upgraded and ``prepare`` is called
    before anything is due.  Raises TapestryError for everything that a person can put right.
    """
    require_shared(data, kinds)
    if WEB in kinds:
        for place in places(address):
            must_be_free(port, place)
    with claimed(data) as run, interruptible():
        stack = Stack(run, data, f"http://{LOOPBACK}:{port}/", kinds)
        try:
            _start(stack, processes.web(port, address), prepare)
            yield stack
        finally:
            stack.leave()


def _start(stack: Stack, web: processes.Program, prepare: Callable[[], None]) -> None:
    runs_filters = WORKER in stack.kinds
    remotes = {name: spark_remote(stack.run, name) for name in REMOTES if runs_filters}
    if not all(remotes.values()):
        server.find_java()
    for name, remote in remotes.items():
        if remote:
            publish(stack.run, f"{name}.remote", remote)
        else:
            stack.add_spark(name)
    redis = stack.start_redis()
    make_database_ready()
    redis.wait()
    publish(stack.run, "redis.url", redis.url)
    if WEB in stack.kinds:
        stack.start_program(web)
    prepare()
    for program in (*processes.background(stack.kinds), *processes.imap(stack.kinds)):
        stack.start_program(program)
    stack.wait()


def wait_for_servers(seconds: float) -> None:
    """Wait until PostgreSQL and Redis, where the settings name them, answer; at most so long.

    What does not answer even then, the start says.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not _servers_answer():
        time.sleep(0.5)


def _servers_answer() -> bool:
    if connection.vendor == "postgresql":
        try:
            connection.ensure_connection()
        except OperationalError:
            return False
    url = os.environ.get("REDIS_URL")
    return not url or redis_server.answers(url)


def must_be_free(port: int, address: str = LOOPBACK) -> None:
    """Raise TapestryError if something serves on the port already, or may not be served."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OverflowError as error:
            raise TapestryError(f"{port} is not a port.", hint="Name one below 65536.") from error
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise TapestryError(
                    f"{address} is not an address of this machine.",
                    hint="Name one of its own with --bind, or 0.0.0.0 for all.",
                ) from error
            raise TapestryError(
                f"Port {port} cannot be used ({error.strerror}).",
                hint=f"Name another with --port N, such as --port {port % 60000 + 1}.",
            ) from error


def answers(url: str) -> bool:
    """Return whether a web server answers that all is well, or that something is not."""
    try:
        with urllib.request.urlopen(f"{url}healthz", timeout=10):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


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
