"""A site at work for a long time: memory of each part, files of the tables, and latency.

every second ─ ten messages, a vote ─> matched ─> in the list        two open pages ask every 3 s

What is measured after a sixth of the time, when all is warm, is compared with the end.
"""

from __future__ import annotations

import itertools
import statistics
import threading
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import connection

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.reading.tasks import append_soon
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from filters.site.work.queues.queue import TICK, UNPROVEN_WINDOWS, run_soon
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, Message
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.compact import compact_small_files
from tests.bench.support import footprint
from tests.bench.support.bulk_install import Population
from tests.bench.support.site import running_site, wait_until

SUMMARY = "memory, files and latency of a site that is at work for a long time"

FIGURES = {
    "resident memory of all parts, after a sixth of {minutes:g} minutes and at the end": (
        "{memory_begin_mb:,} MB; {memory_end_mb:,} MB"
    ),
    "the part that grew the most meanwhile, {minutes:g} minutes": (
        "{grown}: {grown_begin_mb:,} MB; {grown_end_mb:,} MB"
    ),
    "files of the tables, those that were merged away too, {minutes:g} minutes": (
        "{files_begin:,}; {files_end:,}"
    ),
    "from the append to the list, half and 95 of 100, at the beginning, {minutes:g} minutes": (
        "{begin_p50_seconds} s; {begin_p95_seconds} s"
    ),
    "from the append to the list, half and 95 of 100, at the end, {minutes:g} minutes": (
        "{end_p50_seconds} s; {end_p95_seconds} s"
    ),
}

RATE = 10
"""Messages a second."""

PAGES = 2
"""Pages that are open, and ask for what is new."""

SENDERS = 200
"""Senders of the mail; there is a filter for each, and the others ask for what no mail has."""

SETTLE_SECONDS = 600.0
"""Seconds that the filters may take to join the shared window."""

SAMPLE_SECONDS = 5.0
LAST_SECONDS = 120.0
"""Seconds that a message may take to the list; one that takes longer ends the measurement."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--filters", type=int, default=10_000)


@dataclass(slots=True)
class Soak:
    """What is measured: (seconds since the begin, value) each."""

    began: float = field(default_factory=time.monotonic)
    memory: list[tuple[float, dict[str, int]]] = field(default_factory=list)
    files: list[tuple[float, int]] = field(default_factory=list)
    latency: list[tuple[float, float]] = field(default_factory=list)
    pending: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def passed(self) -> float:
        """Return the seconds since the begin."""
        return time.monotonic() - self.began


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return memory (MB), files and latency (seconds) after a sixth of the time, and at the end.

    Raises TapestryError if a message does not come to the list, or a page is not answered.
    """
    seconds = 60.0 * options["minutes"]
    tables = services.tables()
    Population(tables.root, 0, 1, wall_clock()).grow(options["filters"])
    with running_site() as url:
        terry = _install()
        wait_until(lambda: not Filter.objects.filter(enrolled=False).exists(), SETTLE_SECONDS)
        soak, ended = Soak(), threading.Event()
        threads = [
            threading.Thread(target=_ask_for_news, args=(url, _cookie(terry), soak, ended))
            for _ in range(PAGES)
        ]
        threads += [
            threading.Thread(target=watch, args=(soak, ended)) for watch in (_sample, _follow)
        ]
        for thread in threads:
            thread.start()
        try:
            _work(terry, soak, seconds)
            wait_until(lambda: not soak.pending, LAST_SECONDS)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
    if soak.failed:
        raise TapestryError(f"A page was not answered: {soak.failed[0]}.")
    return {"minutes": options["minutes"], "rate": RATE, **_compared(soak, seconds)}


def _install() -> User:
    """Install a filter for each sender, all of one person."""
    from filters.authoring.lifecycle import install

    terry = User.objects.create_user("terry")
    for number in range(SENDERS):
        install(terry, f"from s{number}@soak.example", name=f"s{number}", existing=False)
    run_soon(UNPROVEN_WINDOWS)
    return terry


def _work(terry: User, soak: Soak, seconds: float) -> None:
    """Append ten messages each second, and vote for one of them."""
    for number in itertools.count():
        if soak.passed() > seconds or soak.failed:
            return
        keys = [f"{time.monotonic_ns()}.{place}@soak.example" for place in range(RATE)]
        mail = [
            Message(key, sender=f"s{(number * RATE + place) % SENDERS}@soak.example", subject=key)
            for place, key in enumerate(keys)
        ]
        soak.pending[keys[0]] = time.monotonic()
        append_messages(services.tables(), DjangoClock(), mail)
        compact_small_files(services.tables())  # as whatever takes mail in does
        run_soon(TICK)
        annotate(terry, keys[-1], PUBLIC, "vote", number=1.0)
        append_soon()
        time.sleep(max(0.0, soak.began + number + 1 - time.monotonic()))


def _follow(soak: Soak, ended: threading.Event) -> None:
    """Note when each message that is followed is in the list: it has matched, and has its card."""
    while not ended.wait(0.1):
        pending = dict(soak.pending)
        rows = Match.objects.filter(msgid__in=list(pending), card__isnull=False)
        for key in rows.values_list("msgid", flat=True):
            soak.latency.append((soak.passed(), time.monotonic() - soak.pending.pop(key)))
        if pending and time.monotonic() - min(pending.values()) > LAST_SECONDS:
            soak.failed.append(f"a message was not matched in {LAST_SECONDS:.0f} seconds")
            break
    connection.close()


def _sample(soak: Soak, ended: threading.Event) -> None:
    """Note memory and files now and then."""
    root = services.tables().root
    while not ended.wait(SAMPLE_SECONDS):
        soak.memory.append((soak.passed(), footprint.resident_mb()))
        soak.files.append((soak.passed(), sum(1 for path in root.rglob("*") if path.is_file())))


def _ask_for_news(url: str, cookie: str, soak: Soak, ended: threading.Event) -> None:
    """Ask for the first page, and for its sidebar every three seconds, as an open page does."""
    for address in itertools.chain(("",), itertools.repeat("sidebar/")):
        request = urllib.request.Request(url + address, headers={"Cookie": cookie})
        try:
            with urllib.request.urlopen(request, timeout=LAST_SECONDS) as response:
                response.read()
        except OSError as error:
            soak.failed.append(f"{address or '/'}: {error}")
        if ended.wait(3.0):
            return


def _cookie(user: User) -> str:
    """Sign somebody in; return the cookie of the session."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"


def _compared(soak: Soak, seconds: float) -> dict[str, Any]:
    """Return the figures after a sixth of the time and at the end: those of a twelfth each."""
    spans = {"begin": (seconds / 6, seconds / 4), "end": (seconds * 11 / 12, float("inf"))}
    figures: dict[str, Any] = {}
    parts: dict[str, dict[str, int]] = {}
    for name, (low, high) in spans.items():
        memory = list(_within(soak.memory, low, high))
        latency = sorted(_within(soak.latency, low, high))
        if not memory or not latency:
            raise TapestryError(
                "Nothing was measured in a part of the time.", hint="Name more minutes."
            )
        parts[name] = {
            part: round(statistics.mean(sizes.get(part, 0) for sizes in memory))
            for part in memory[-1]
        }
        figures[f"memory_{name}_mb"] = sum(parts[name].values())
        figures[f"files_{name}"] = round(statistics.mean(_within(soak.files, low, high)))
        figures[f"{name}_p50_seconds"] = round(statistics.median(latency), 2)
        figures[f"{name}_p95_seconds"] = round(latency[int(0.95 * (len(latency) - 1))], 2)
    grown = max(parts["end"], key=lambda part: parts["end"][part] - parts["begin"].get(part, 0))
    figures |= {
        "grown": grown,
        "grown_begin_mb": parts["begin"].get(grown, 0),
        "grown_end_mb": parts["end"][grown],
    }
    return figures | {"parts_begin_mb": parts["begin"], "parts_end_mb": parts["end"]}


def _within(samples: list[tuple[float, Any]], low: float, high: float) -> Iterator[Any]:
    return (value for passed, value in samples if low <= passed < high)
