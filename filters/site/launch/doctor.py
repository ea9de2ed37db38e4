"""Whether this machine has what Tapestry needs, before it runs: each check in a sentence.

While it runs, ``/healthz`` says how its parts are (filters.runs.operator.health).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from django.conf import settings
from django.db import DatabaseError, connection

from filters.compose.models import SmtpAccount
from filters.delivery.models import Destination
from filters.runs.models import Clock
from filters.site.launch import redis_server
from filters.site.launch.stack import must_be_free
from filters.site.work.db.database import seconds_apart
from filters.site.work.parts import services
from filters.site.work.parts.addresses import LOCK, REMOTES
from filters.sources.models import Source
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import reserve
from tapestry.core.files.file_lock import file_lock
from tapestry.spark.server import find_java

MEMORY = 3 << 30
"""Bytes that the parts of a site take, with both Sparks."""

PATIENCE = 10.0
"""Seconds that another machine has to answer."""

MOST_HOSTS = 50

SPARK_PORT = 15002
"""Of Spark Connect, where SPARK_REMOTE names none."""

STARTED = "started by the site, once it is needed"

SET_CLOCK = "Set it right, as with `timedatectl set-ntp true`."

CONFIGURED = ("DATABASE_URL", "REDIS_URL", *REMOTES.values())
"""Variables that may name hosts."""


@dataclass(frozen=True, slots=True)
class Finding:
    """How something is, in a sentence that says what to do if it is not well."""

    name: str
    is_well: bool
    says: str


def examine(port: int) -> list[Finding]:
    """Check this machine and what the settings name; nothing is changed.

    ``port`` is where the web pages will be.
    """
    checks: dict[str, Callable[[], str]] = {
        "python": _python,
        "java": lambda: f"{find_java()}",
        "spark": _spark,
        "memory": _memory,
        "disk": _disk,
        "data": _data,
        "port": partial(_port, port),
        "imap": _imap,
        "redis": _redis,
        "database": _database,
        "clock": _clock,
        "mail": _mail,
        "bounces": _bounces,
        "names": _names,
    }
    return [_finding(name, check) for name, check in checks.items()]


def _finding(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, check())
    except TapestryError as error:
        return Finding(name, False, error.sentences)
    except (OSError, ValueError, DatabaseError) as error:
        return Finding(name, False, f"{error}".strip().partition("\n")[0])


def _python() -> str:
    return f"{sys.version.partition(' ')[0]}, at {sys.executable}"


def _spark() -> str:
    if importlib.util.find_spec("pyspark") is None:
        raise TapestryError("The package pyspark is not installed.", hint="Install Tapestry anew.")
    remotes = sorted({url for name in REMOTES.values() if (url := os.environ.get(name))})
    for url in remotes:
        where = urlsplit(url)
        _must_answer("Spark", where.hostname or "", where.port or SPARK_PORT, "SPARK_REMOTE")
    return f"answers at {', '.join(map(_without_token, remotes))}" if remotes else STARTED


def _without_token(url: str) -> str:
    return url.partition("/;")[0]


def _must_answer(what: str, host: str, port: int, variable: str) -> None:
    """Raise TapestryError if nothing answers where a variable says that something does."""
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TapestryError(
            f"No {what} answers at {host}:{port} ({reason}).",
            hint=f"Correct {variable}, or start it.",
        ) from error


def _memory() -> str:
    free = psutil.virtual_memory().available
    if free < MEMORY and not _is_running():
        raise TapestryError(
            f"{free / (1 << 30):.1f} GB of memory are free, and the parts take {MEMORY >> 30}.",
            hint="End other programs, or have SPARK_REMOTE name a Spark on another machine.",
        )
    return f"{free / (1 << 30):.1f} GB free"


def _disk() -> str:
    place = next(path for path in (settings.DATA, *settings.DATA.parents) if path.exists())
    free = shutil.disk_usage(place).free
    if free < 2 * reserve():
        raise TapestryError(
            f"{free >> 20} MiB are free at {place}, and nothing runs below {reserve() >> 20}.",
            hint="Make room, or name another place with --data DIR.",
        )
    return f"{free / (1 << 30):.1f} GB free at {place}"


def _data() -> str:
    data: Path = settings.DATA
    if not data.exists():
        return f"{data} will be made"
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        raise TapestryError(
            f"{data} cannot be written to.", hint="Run as its owner, or name another with --data."
        )
    return f"{data}, where a Tapestry runs" if _is_running() else f"{data}"


def _is_running() -> bool:
    lock = services.run() / LOCK
    if not lock.exists():
        return False
    with file_lock(lock, mode=0o600) as acquired:
        return not acquired


def _port(port: int) -> str:
    if _is_running():
        return "the Tapestry of this data directory has one"
    must_be_free(port)
    return f"{port} is free"


def _imap() -> str:
    place = settings.IMAP
    if place is None:
        return "TAPESTRY_IMAP is not set: no mail program connects"
    place.context()
    if not _is_running():
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        socket.create_server((place.host, place.port), family=family).close()
    return f"mail programs connect to port {place.port} of {place.host}"


def _redis() -> str:
    url = os.environ.get("REDIS_URL")
    if not url:
        return f"started with the site ({redis_server.binary().name})"
    if not redis_server.answers(url):
        raise TapestryError(
            "No Redis answers at REDIS_URL.", hint="Start it, or unset REDIS_URL: one is started."
        )
    return "answers at REDIS_URL"


def _database() -> str:
    if _is_to_be_made():
        return "SQLite, which will be made"
    connection.ensure_connection()
    return f"{connection.display_name} answers"


def _clock() -> str:
    if not _has_tables():
        return "nothing is stored yet"
    last = max([0, *Clock.objects.values_list("last", flat=True)])
    if last > wall_clock() + MINUTE:
        seconds = (last - wall_clock()) // SECOND
        raise TapestryError(
            f"The clock of this machine is {seconds:,} seconds behind what is stored.",
            hint=f"{SET_CLOCK} Until then all waits.",
        )
    if (apart := seconds_apart()) * SECOND > MINUTE:
        raise TapestryError(
            f"This machine and the database are {apart:,} seconds apart.", hint=SET_CLOCK
        )
    return "not behind what is stored"


def _mail() -> str:
    if not settings.EMAIL_HOST or not os.environ.get("EMAIL_URL"):
        return "EMAIL_URL is not set: digests are kept on a page"
    host, port = settings.EMAIL_HOST, settings.EMAIL_PORT
    _must_answer("mail server", host, port, "EMAIL_URL")
    return f"{host}:{port} answers"


def _bounces() -> str:
    if not settings.BOUNCES:
        return "TAPESTRY_BOUNCES is not set: bounces are not read"
    where = urlsplit(settings.BOUNCES)
    port = where.port or (993 if where.scheme == "imaps" else 143)
    _must_answer("mailbox server", where.hostname or "", port, "TAPESTRY_BOUNCES")
    return f"{where.hostname}:{port} answers"


def _names() -> str:
    hosts = {urlsplit(settings.SITE_URL).hostname or "localhost", settings.EMAIL_HOST}
    urls = [settings.BOUNCES, *(os.environ.get(name) or "" for name in CONFIGURED)]
    hosts.update(urlsplit(url).hostname or "" for url in urls)
    hosts.discard("")
    if _has_tables():
        hosts.update(_hosts_of_people())
    unknown = sorted(host for host in hosts if not _is_known(host))
    if unknown:
        raise TapestryError(
            f"Nobody knows the name {', '.join(unknown)}.",
            hint="Look at the DNS of this machine, or correct the name.",
        )
    return f"{', '.join(sorted(hosts)[:3])}{' and others' if len(hosts) > 3 else ''}"


def _hosts_of_people() -> Iterator[str]:
    """Yield hosts that people named: of sources, of mailboxes and webhooks, of mail servers."""
    for rows in (Source.objects.filter(active=True), SmtpAccount.objects.all()):
        yield from rows.order_by("host").values_list("host", flat=True).distinct()[:MOST_HOSTS]
    for place in Destination.objects.filter(active=True).order_by("-pk")[:MOST_HOSTS]:
        url = urlsplit(str(place.settings.get("url", "")))
        yield from filter(None, (url.hostname, place.mailbox[0]))


def _is_known(host: str) -> bool:
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return False
    return True


def _is_to_be_made() -> bool:
    """Tell whether the database is a file that is not there yet: to connect would make it."""
    return connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists()


def _has_tables() -> bool:
    return not _is_to_be_made() and Clock._meta.db_table in connection.introspection.table_names()
