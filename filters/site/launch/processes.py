"""The parts that are Python: how the workers, beat and the web server are started."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from filters.site.settings.workers import BEAT, IMAP, LISTENER, PARTS, WORKER
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


def background(kinds: Collection[str] = PARTS) -> Iterator[Program]:
    """Yield the worker processes, each named for its first lane, and Celery's beat."""
    names = Counter[str]()
    for lanes in settings.WORKERS:
        here = [lane for lane in lanes if (LISTENER if lane == LISTENER else WORKER) in kinds]
        if not here:
            continue
        first, *others = here
        names[first] += 1
        log = f"worker-{first}-{names[first]}.log" if names[first] > 1 else f"worker-{first}.log"
        module = ("filters.site.launch.worker", first, *others)
        yield Program(f"The worker of {first}", log, module)
    if BEAT in kinds:
        yield Program("Beat", "beat.log", ("filters.site.launch.beat",))


def web(port: int, address: str) -> Program:
    """Return the web server, on loopback and at an address."""
    module = ("filters.site.launch.web_server", str(port), address)
    return Program("The web server", "web.log", module)


def imap(kinds: Collection[str] = PARTS) -> Iterator[Program]:
    """Yield the server for mail programs, if the operator has named a place for it."""
    if settings.IMAP is not None and IMAP in kinds:
        yield Program("The IMAP server", "imap.log", ("filters.site.launch.imap_server",))
