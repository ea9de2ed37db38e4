"""The parts that are Python: how the worker, beat and the web server are started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tapestry.celery import PROCESSES, THREADS
from tapestry.core.child_process import Child, spawn

BASE = Path(__file__).resolve().parents[2]

MALLOC = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}
"""Settings of glibc's malloc (mallopt(3)): freed memory goes back to the system.

By default threads share as many as eight arenas for each core, and what is freed stays in them:
a worker that sends statements all day would grow by megabytes a minute.
"""


def environment(data: Path, redis: str, url: str) -> dict[str, str]:
    """Return the environment of every part: where the data, Redis and the site are."""
    return (
        {"TAPESTRY_URL": url, **MALLOC}
        | dict(os.environ)
        | {
            "DJANGO_SETTINGS_MODULE": "tapestry.settings",
            "TAPESTRY_DATA": str(data),
            "REDIS_URL": redis,
            "PYTHONUNBUFFERED": "1",
        }
    )


def start_background(run: Path, env: Mapping[str, str]) -> Iterator[Child]:
    """Start a Celery worker for each queue, Celery's beat and the listener (IMAP IDLE)."""
    celery = ["celery", "-A", "tapestry.celery", "--skip-checks"]
    options = ["--loglevel", "WARNING"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    # Its schedule is kept in memory: a file of it could not be written to a full disk.
    schedule = ["--scheduler", "celery.beat:Scheduler", "--pidfile", ""]
    parts = {
        **{
            (f"The worker of {queue}", f"worker-{name}.log"): [
                *(*celery, "worker", *options, *quiet),
                *("-Q", queue, "-n", f"{name}@%h", "--concurrency", str(threads)),
            ]
            for queue, threads in THREADS.items()
            for name in (queue, *(f"{queue}-{n}" for n in range(2, PROCESSES.get(queue, 1) + 1)))
        },
        ("Beat", "beat.log"): [*celery, "beat", *options, *schedule],
        ("The listener", "listener.log"): ["django", "listen"],
    }
    for (name, log), module in parts.items():
        yield _start(name, run / log, module, env)


def start_web(run: Path, env: Mapping[str, str], port: int) -> Child:
    """Start the web server on loopback."""
    module = ["filters.launch.web_server", str(port)]
    return _start("The web server", run / "web.log", module, env)


def _start(name: str, log: Path, module: list[str], env: Mapping[str, str]) -> Child:
    log.write_bytes(b"")
    return spawn(name, [sys.executable, "-m", *module], log, env, BASE)
