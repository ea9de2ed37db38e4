"""The parts that are Python: how the worker, beat and the web server are started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tapestry.celery import PROCESSES, THREADS
from tapestry.core.processes.child_process import Child, spawn

BASE = Path(__file__).resolve().parents[3]


def environment(data: Path, redis: str, url: str) -> dict[str, str]:
    """Return the environment of every part: where the data, Redis and the site are."""
    return (
        {"TAPESTRY_URL": url}
        | dict(os.environ)
        | {
            "DJANGO_SETTINGS_MODULE": "tapestry.settings",
            "TAPESTRY_DATA": str(data),
            "REDIS_URL": redis,
            "PYTHONUNBUFFERED": "1",
        }
    )


@dataclass(frozen=True)
class Program:
    """A part that is Python: the word for it in sentences, the name of its log, what it runs."""

    name: str
    log: str
    module: tuple[str, ...]

    def start(self, run: Path, env: Mapping[str, str], again: bool = False) -> Child:
        """Start it; where it is started ``again``, its log is continued."""
        log = run / self.log
        if not again:
            log.write_bytes(b"")
        return spawn(self.name, [sys.executable, "-m", *self.module], log, env, BASE)


def background() -> Iterator[Program]:
    """Yield a Celery worker for each queue, Celery's beat and the listener (IMAP IDLE)."""
    celery = ("celery", "-A", "tapestry.celery", "--skip-checks")
    options = ("--loglevel", "WARNING")
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    for queue, threads in THREADS.items():
        for name in (queue, *(f"{queue}-{n}" for n in range(2, PROCESSES.get(queue, 1) + 1))):
            own = ("-Q", queue, "-n", f"{name}@%h", "--concurrency", str(threads))
            module = (*celery, "worker", *options, *quiet, *own)
            yield Program(f"The worker of {queue}", f"worker-{name}.log", module)
    # Its schedule is kept in memory: a file of it could not be written to a full disk.
    schedule = ("--scheduler", "celery.beat:Scheduler", "--pidfile", "")
    yield Program("Beat", "beat.log", (*celery, "beat", *options, *schedule))
    yield Program("The listener", "listener.log", ("django", "listen"))


def web(port: int) -> Program:
    """Return the web server, on loopback."""
    return Program("The web server", "web.log", ("filters.site.launch.web_server", str(port)))
