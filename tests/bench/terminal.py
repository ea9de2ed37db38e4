"""How long a person waits at a terminal for what `tapestry ask` finds on a site that runs."""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psutil

from filters.api.authentication import make_token
from filters.people.models import User
from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tests.bench.support import mail
from tests.bench.support.site import running_site

SUMMARY = "seconds from `tapestry ask` to its first line, asked of a site that runs"

FIGURES = {
    "`tapestry ask` of a site of {messages:,} messages: the first line, half and 95 of 100": (
        "{p50_seconds} s; {p95_seconds} s"
    ),
    "the same, {messages:,} messages: of the processor, in the command; in the site": (
        "{command_cpu_seconds} s; {site_cpu_seconds} s"
    ),
}

TEXTS = ("about index", "replied to", "with no reply for two weeks", "about lock")
"""What is asked in turn: words, and phrases about other messages."""

WARM = 4
"""Questions before those that are measured."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--messages", type=int, default=20_000, help="of the site (20000)")
    parser.add_argument("--repeat", type=int, default=20, help="questions (20)")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return percentiles of seconds, and the seconds of the processor that the command takes."""
    mail.fill(services.tables(), options["messages"], 100)
    secret = make_token(User.objects.create_user("terry"), "bench", ["read"], 1)[1]
    with running_site() as site:
        environ = os.environ | {"TAPESTRY_SITE": site, "TAPESTRY_TOKEN": secret}
        for number in range(WARM):
            _seconds(TEXTS[number % len(TEXTS)], environ)
        begun, busy = _of_commands(), _of_site()
        waits = [
            _seconds(TEXTS[number % len(TEXTS)], environ) for number in range(options["repeat"])
        ]
        ended, idle = _of_commands(), _of_site()
    ordered = sorted(waits)
    return {
        "messages": options["messages"],
        "p50_seconds": round(statistics.median(ordered), 2),
        "p95_seconds": round(ordered[math.ceil(0.95 * len(ordered)) - 1], 2),
        "command_cpu_seconds": round((ended - begun) / len(waits), 2),
        "site_cpu_seconds": round((idle - busy) / len(waits), 2),
    }


def _of_commands() -> float:
    """Return the seconds of the processor that ended processes took: the commands."""
    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime


def _of_site() -> float:
    """Return the seconds that the parts of the site have taken so far."""
    parts = psutil.Process().children(recursive=True)
    return sum(sum(part.cpu_times()[:2]) for part in parts)


def _seconds(text: str, environ: dict[str, str]) -> float:
    """Ask, and return the seconds until the first line; TapestryError if there is none."""
    command = [sys.executable, "-m", "tapestry", "ask", text]
    root, begin = Path(__file__).resolve().parents[2], time.perf_counter()
    with subprocess.Popen(command, cwd=root, env=environ, stdout=subprocess.PIPE) as asking:
        line = asking.stdout.readline() if asking.stdout else b""
        seconds = time.perf_counter() - begin
        asking.communicate()
    if not line:
        raise TapestryError(f"Nothing was found for “{text}”.")
    return seconds
