"""How well the durations of answers tell whether others have mail that the reader may not see.

Two data directories are the same for the reader; one has many hidden rows too.  A web server on
each is asked the same, in random order.  The area under the ROC curve of the durations (AUC, by
Mann and Whitney) is the chance that an answer from the world with hidden rows takes longer than
one from the other: 0.5 is chance, 0 and 1 tell the worlds apart each time.
"""

from __future__ import annotations

import http.client
import os
import random
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from filters.people.known_names import known_names
from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port
from tapestry.tables.delta.log import Tables
from tests.bench.support import mail, two_worlds
from tests.bench.support.auc import auc, interval
from tests.bench.support.timing import median_ms, timed
from tests.support.processes.process_memory import forget_names

SUMMARY = "how well durations tell a site with many hidden rows from one without"

FIGURES = {
    "AUC of the durations of the inbox; of its feed, {rows:,} hidden rows": "{inbox}; {feed}",
    "AUC of a message; of its thread from another one, {rows:,} hidden rows": (
        "{message}; {thread}"
    ),
    "AUC of a Message-ID that is hidden; that nobody has, {rows:,} hidden rows": (
        "{hidden}; {nobody}"
    ),
    "AUC of a completion; of the names for it, {rows:,} hidden rows": "{completion}; {names}",
    "AUC of “how it is understood”, {rows:,} hidden rows": "{understood}",
}

MISSING = ("hidden", "nobody")
"""Questions that are answered with 404."""

AUDIENCES = ("public", "user:reader")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=100_000, help="hidden messages (100,000)")
    parser.add_argument("--visible", type=int, default=20_000, help="messages of the reader")
    parser.add_argument("--repeat", type=int, default=200, help="answers of each kind and world")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the AUC of each question in words, and its figures: interval, median milliseconds.

    Raises TapestryError if the worlds do not answer alike.
    """
    rows, visible = options["rows"], options["visible"]
    if rows < two_worlds.OTHERS or visible < 1000:
        raise TapestryError(
            "Too few rows to compare.", hint="Take 500 hidden rows, and 1,000 visible ones."
        )
    worlds = two_worlds.make(services.data(), visible, rows)
    cookies = two_worlds.sign_in(services.data(), worlds)
    with ExitStack() as stack:
        askers = {
            name: stack.enter_context(_asker(data, cookies[name])) for name, data in worlds.items()
        }
        durations = _durations(worlds, askers, visible, options["repeat"])
    answers = {question: _compared(*both) for question, both in durations.items()}
    words = {
        question: "{auc} ({low} to {high})".format_map(figures)
        for question, figures in answers.items()
    }
    return {"rows": rows, "visible": visible, **words, "answers": answers}


def _questions(visible: int) -> dict[str, Callable[[int], str]]:
    """Return, by question, the address of the n-th time that it is asked."""

    def shown(n: int) -> str:
        return mail.msgid(n * 7919 % visible)

    return {
        "inbox": lambda n: "/",
        "feed": lambda n: f"/feeds/{two_worlds.FEED}.atom",
        "message": lambda n: f"/message/?id={shown(n)}",
        "thread": lambda n: f"/message/?id={shown(n % 20)}",
        "hidden": lambda n: f"/message/?id=h{n * 20 + 2}@hidden.example",
        "nobody": lambda n: f"/message/?id=none{n}@hidden.example",
        "completion": lambda n: "/filters/complete/?text=from%20p&at=6&all",
        "understood": lambda n: "/filters/new/?text=from%20boss%20with%20no%20reply",
    }


Asker = Callable[[str], tuple[int, int]]
"""Asks a site for an address; returns the status and the length of the answer."""


def _durations(
    worlds: Mapping[str, Path], askers: Mapping[str, Asker], visible: int, repeat: int
) -> dict[str, tuple[list[float], list[float]]]:
    """Return the seconds of all answers by question: without hidden rows, and with them."""
    questions = _questions(visible)
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    chance = random.Random(7)
    for n in range(-5, repeat):  # the first ones warm up
        asked = [(question, world) for question in [*questions, "names"] for world in worlds]
        chance.shuffle(asked)
        lengths: dict[str, set[object]] = defaultdict(set)
        for question, world in asked:
            answer: object
            if question == "names":
                tables = Tables(worlds[world] / "tables")
                forget_names()
                took, answer = timed(partial(known_names, tables, AUDIENCES))
            else:
                took, told = timed(partial(askers[world], questions[question](n + 5)))
                if told[0] != (404 if question in MISSING else 200):
                    raise TapestryError(f"The site answered {question} with {told[0]}.")
                answer = told
            lengths[question].add(answer)
            if n >= 0:
                seconds[question, world].append(took)
        for question, answers in lengths.items():
            if len(answers) > 1 and n >= 0:
                shown = ", ".join(f"{answer!s:.100}" for answer in answers)
                raise TapestryError(f"The worlds answer differently: {question}, {shown}.")
    return {
        question: (seconds[question, "without"], seconds[question, "with"])
        for question in [*questions, "names"]
    }


def _compared(without: list[float], with_: list[float]) -> dict[str, float]:
    area = auc(without, with_)
    low, high = interval(area, len(without), len(with_))
    return {
        "auc": round(area, 3),
        "low": low,
        "high": high,
        "without_ms": median_ms(without),
        "with_ms": median_ms(with_),
    }


@contextmanager
def _asker(data: Path, cookie: str) -> Iterator[Asker]:
    """Run the web server on a data directory; yield what asks it as the reader."""
    port = free_port()
    argv = [sys.executable, "-m", "filters.site.launch.web_server", str(port)]
    environment = {**os.environ, "TAPESTRY_DATA": str(data)}
    with (data / "web.log").open("wb") as log:
        process = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 120
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.connect()
                break
            except ConnectionRefusedError:
                if process.poll() is not None or time.monotonic() > end:
                    raise TapestryError("The web server did not start.") from None
                time.sleep(0.1)

        def ask(address: str) -> tuple[int, int]:
            connection.request(
                "GET", address, headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}"}
            )
            response = connection.getresponse()
            return response.status, len(response.read())

        yield ask
        connection.close()
    finally:
        process.terminate()
        process.wait(30)
