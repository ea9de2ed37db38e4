"""How much mail a site matches with more than one worker of the shared window, on one machine.

    tasks of a part ─ a lock each ─> workers ─> statements ─> one Spark server

The window is divided into as many parts as there are workers; the filters are of nine signatures.
"""

from __future__ import annotations

import os
import statistics
import time
from argparse import ArgumentParser
from typing import Any

from filters.inbox.models import Match
from filters.runs.models import SharedWindow
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from filters.site.work.queues.queue import TICK, run_soon
from tapestry.core.clock import wall_clock
from tapestry.tables.write.append import append_messages
from tests.bench.support import mail
from tests.bench.support.bulk_install import Population
from tests.bench.support.population import LEAST, Workload
from tests.bench.support.site import running_site, wait_until

SUMMARY = "messages a second that a site matches with some workers of the shared window"

FIGURES = {
    "{filters:,} filters, {messages:,} new messages at a time, workers of the shared window: "
    "{workers}": "{messages_a_second:,} messages a second, {matches_a_second:,} matches",
}

WARMING = 2
"""Rounds before those that are measured."""

LAST_SECONDS = 300.0
"""Seconds that a round may take."""

OTHERS = "own+previews sources+listener mail+outbound mail"
"""The other processes of `TAPESTRY_WORKERS`, as they are by default."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--workers", type=int, default=2, help="and parts of the window (2)")
    parser.add_argument("--filters", type=int, default=9000)
    parser.add_argument("--messages", type=int, default=2000, help="that come at a time (2000)")
    parser.add_argument("--archive", type=int, default=38_000, help="messages before these")
    parser.add_argument("--repeat", type=int, default=5, help="measured rounds (5)")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return medians of the messages, and of the matches, that are matched in a second."""
    workers, count = options["workers"], max(options["messages"], LEAST)
    os.environ["TAPESTRY_WINDOW_PARTS"] = str(workers)
    os.environ["TAPESTRY_WORKERS"] = " ".join(["shared"] * workers + [OTHERS])
    workload = Workload(options["archive"], WARMING + options["repeat"])
    mail.fill(services.tables(), workload.archive, 0)
    filters, now = options["filters"], wall_clock()
    Population(services.tables().root, filters, workload.weeks, now, workers).grow(filters)
    with running_site():
        rounds = [_round(workload, number, count, workers) for number in range(workload.rounds)]
    seconds, matches = zip(*rounds[WARMING:], strict=True)
    median = statistics.median(seconds)
    return {
        "workers": workers,
        "filters": options["filters"],
        "messages": count,
        "round_seconds": round(median, 2),
        "messages_a_second": round(count / median),
        "matches_a_second": round(statistics.median(matches) / median),
    }


def _round(workload: Workload, number: int, count: int, workers: int) -> tuple[float, int]:
    """Return the seconds until all parts have run over new mail, and how much they found."""
    before = Match.objects.count()
    letters = workload.round(number, count).letters
    upto = append_messages(services.tables(), DjangoClock(), letters).ts
    began = time.monotonic()
    run_soon(TICK)
    parts = SharedWindow.objects.filter(since__gte=upto)
    wait_until(lambda: parts.count() == workers, LAST_SECONDS)
    return time.monotonic() - began, Match.objects.count() - before
