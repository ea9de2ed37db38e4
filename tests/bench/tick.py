"""How long a round of the worker takes: the demo's filters, new messages, an archive."""

from __future__ import annotations

import os
import statistics
from argparse import ArgumentParser
from typing import Any

from filters.authoring.models import Filter
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from filters.sample.letter import Letter
from filters.sample.load import deliver, load
from filters.sample.people import settle, write_filters
from filters.sample.story import Event, Teller, story
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.spark import server
from tests.bench.support.timing import timed

SUMMARY = "one round: the demo's filters, new messages, an archive; on a Spark of its own"

FIGURES = {
    "a round: {filters} filters of the demo, {new} new messages, {archive:,} in the archive": (
        "median {median_s:.1f} s, the first {first_s:.1f} s"
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--messages", type=int, default=2000, help="in the archive")
    parser.add_argument("--new", type=int, default=100, help="messages between two rounds")
    parser.add_argument("--repeat", type=int, default=10, help="measured rounds")


def measure(options: dict[str, Any]) -> dict[str, float | int | str]:
    """Return seconds of the first round and, of the warm ones, the median and the slowest."""
    run, mail = services.data() / "run", services.data() / "sample"
    run.mkdir(exist_ok=True)
    with server.serving(run) as remote:
        os.environ["SPARK_REMOTE"] = remote
        settle(mail / "people.json")
        end = wall_clock()
        load(story(end, options["messages"]), end, mail, services.tables(), DjangoClock())
        write_filters()
        seconds: list[float] = []
        teller = Teller(seed=1, mark="b")
        for _ in range(options["repeat"] + 2):
            wall, report = timed(rounds.run_round)
            seconds.append(wall)
            now = wall_clock()
            letters = [letter for _ in range(options["new"]) for letter in _thread(teller, now)]
            new = [Event(now, letter) for letter in letters[: options["new"]]]
            deliver(new, mail, services.tables(), DjangoClock())
    return {
        "filters": Filter.objects.count(),
        "archive": options["messages"],
        "new": options["new"],
        "matches_last": len(report.matches),
        "first_s": round(seconds[0], 3),
        "second_s": round(seconds[1], 3),
        "median_s": round(statistics.median(seconds[2:]), 3),
        "slowest_s": round(max(seconds[2:]), 3),
    }


def _thread(teller: Teller, now: int) -> list[Letter]:
    thread = teller.thread(now)
    for _ in range(3):
        teller.reply(thread, now)
    return thread.letters
