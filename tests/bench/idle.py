"""What all parts together take of a core while little or nothing comes."""

from __future__ import annotations

import itertools
import time
from argparse import ArgumentParser
from typing import Any

from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from filters.site.work.queues.queue import TICK, UNPROVEN_WINDOWS, run_soon
from tapestry.core.message import Message
from tapestry.tables.write.append import append_messages
from tests.bench.support import footprint, mail
from tests.bench.support.site import running_site, wait_until

SUMMARY = "the part of a core that all parts take with no mail, and with a message now and then"

FIGURES = {
    "part of a core, no new mail, {filters} filters": "{idle_percent} %",
    "part of a core, a message in {every:g} seconds, {filters} filters": "{trickle_percent} %",
}

SETTLE_SECONDS = 600.0
"""Seconds that the filters may take to join the shared window."""

KINDS = ("from {}", "replies by {}", "from {} with no reply", "replied to by {}")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--messages", type=int, default=20_000, help="in the archive")
    parser.add_argument("--filters", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120.0, help="of each measurement")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two messages")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return processor seconds a second, in percent, without and with new mail."""
    from filters.authoring.lifecycle import install

    with running_site():
        mail.fill(services.tables(), options["messages"], 1)
        person = User.objects.create_user("terry")
        for number in range(options["filters"]):
            sender = f"s{number}@idle.example"
            install(person, KINDS[number % len(KINDS)].format(sender), existing=False)
        run_soon(UNPROVEN_WINDOWS)
        wait_until(lambda: not Filter.objects.filter(enrolled=False).exists(), SETTLE_SECONDS)
        _trickle(options, 60.0)  # until the compilers of the JVM have done most of their work
        time.sleep(20)
        idle = _percent(lambda: time.sleep(options["seconds"]))
        trickle = _percent(lambda: _trickle(options, options["seconds"]))
    return {
        "filters": options["filters"],
        "every": options["every"],
        "idle_percent": idle,
        "trickle_percent": trickle,
    }


def _percent(run: Any) -> float:
    """Return the processor time of the parts while something runs, in percent of a core."""
    own, parts, began = time.process_time(), footprint.cpu_seconds(), time.monotonic()
    run()
    seconds = time.monotonic() - began
    used = footprint.cpu_seconds() - parts - (time.process_time() - own)
    return round(100 * used / seconds, 1)


def _trickle(options: dict[str, Any], seconds: float) -> None:
    end = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() > end:
            break
        sender = f"s{number % options['filters']}@idle.example"
        message = Message(f"{time.monotonic_ns()}@idle.example", sender=sender, subject="new")
        append_messages(services.tables(), DjangoClock(), [message])
        run_soon(TICK)
        time.sleep(options["every"])
