"""Whether one person's filters and previews hold up the matches of others, on all parts running."""

from __future__ import annotations

import itertools
import math
import statistics
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.db import connection

from filters.authoring.models import Filter
from filters.inbox.models import Match
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from filters.site.work.queues.queue import TICK, UNPROVEN_WINDOWS, run_soon
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.tables.write.append import append_messages
from tests.bench.support import mail
from tests.bench.support.site import running_site, wait_until
from tests.support.intake import ingest

SUMMARY = "others' seconds from arrival to match while one person writes what costs the most"

FIGURES = {
    "from arrival to match, 95 of 100, {messages:,} messages, 200 filters of ten people": (
        "{alone_p95_seconds} s"
    ),
    "the same while another person writes what costs the most": "{others_p95_seconds} s",
    "ratio": "{ratio}",
}

PEOPLE, FILTERS_EACH = 10, 20

SETTLE_SECONDS = 600.0
"""Seconds that the filters may take to join the shared window."""

LAST_SECONDS = 60.0
"""Seconds that the last message may take to be matched."""

NASTY = (
    "starting a thread of more than 20",
    "m.body LIKE '%a%a%a%a%b'",
    "SUM(r.size: TRUE) > 3000000",
    "EXISTS (r: r.size > m.size AND r.subject <> m.subject AND r.size + m.size = 0 - 1)",
    "EXISTS (r, s: r.size + s.size + m.size = 0 - 1)",
    "EXISTS (r: r.inreplyto = m.msgid OR r.subject = m.subject OR r.size = m.size)",
    "among the top 10 by replies this week",
    "with more than 3 replies",
)
"""What was seen to hold up everybody."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--mbox", metavar="WHAT", help="anything `ingest` takes in")
    parser.add_argument("--messages", type=int, default=20_000, help="generated, without --mbox")
    parser.add_argument("--seconds", type=float, default=120.0, help="of each of the two phases")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two messages")
    parser.add_argument("--installed", type=int, default=54, help="filters of the one person")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the 95th percentiles of the seconds from arrival to match, without and with it."""
    with running_site():
        before = _fill(options)
        people = [User.objects.create_user(f"p{number}") for number in range(PEOPLE)]
        _install(people)
        run_soon(UNPROVEN_WINDOWS)
        wait_until(lambda: Filter.objects.filter(enrolled=False).count() == 0, SETTLE_SECONDS)
        _deliver(options, 10.0, "warm")
        alone = _deliver(options, options["seconds"], "alone")
        nasty = User.objects.create_user("nasty")
        over = threading.Event()
        typing = threading.Thread(target=_type, args=(nasty.pk, over), daemon=True)
        typing.start()
        _install_nasty(nasty, options["installed"])
        others = _deliver(options, options["seconds"], "others")
        over.set()
        typing.join()
    return {
        "messages": before,
        "delivered": len(others),
        "alone_p50_seconds": round(statistics.median(alone), 2),
        "alone_p95_seconds": round(_p95(alone), 2),
        "others_p50_seconds": round(statistics.median(others), 2),
        "others_p95_seconds": round(_p95(others), 2),
        "others_most_seconds": round(max(others), 2),
        "ratio": round(_p95(others) / _p95(alone), 2),
        "nasty_set_aside": Filter.objects.filter(owner=nasty).exclude(error="").count(),
        "nasty_delivered": Match.objects.filter(filter__owner=nasty)
        .values("filter")
        .distinct()
        .count(),
    }


def _fill(options: dict[str, Any]) -> int:
    if options["mbox"]:
        report = ingest(options["mbox"], services.tables(), DjangoClock())
        count = report.added
    else:
        mail.fill(services.tables(), options["messages"], 1)
        count = int(options["messages"])
    large = Message("large@fairness.example", subject="long", body="a" * 2**18)
    append_messages(services.tables(), DjangoClock(), [large])
    return count


def _install(people: list[User]) -> None:
    from filters.authoring.lifecycle import install

    for person, number in itertools.product(people, range(FILTERS_EACH)):
        sender = f"s{number}@fairness.example"
        texts = (f"from {sender}", f"replies by {sender}", f"from {sender} with no reply")
        install(person, texts[number % 3], name=f"f{number}", existing=False)


def _install_nasty(person: User, count: int) -> None:
    from filters.authoring.lifecycle import install

    for number, text in zip(range(count), itertools.cycle(NASTY), strict=False):
        with suppress(TapestryError):  # what is refused at once holds up nobody
            install(person, text, name=f"n{number}")
    run_soon(UNPROVEN_WINDOWS)


def _type(user_id: int, over: threading.Event) -> None:
    """Ask for one preview after another, as somebody who types does, until it is over."""
    from filters.authoring.results.previews import preview_result
    from filters.authoring.tasks import start_preview

    user = User.objects.get(pk=user_id)
    for text in itertools.cycle(NASTY):
        task = start_preview(text, user_id)
        end = time.monotonic() + 15
        while time.monotonic() < end and preview_result(task, user) is None:
            if over.wait(1):
                connection.close()
                return


def _deliver(options: dict[str, Any], seconds: float, phase: str) -> list[float]:
    """Deliver a message now and then; return the seconds until each had all its matches."""
    sent: dict[str, int] = {}
    end = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() > end:
            break
        msgid = f"{phase}.{number}@fairness.example"
        message = Message(msgid, sender=f"s{number % FILTERS_EACH}@fairness.example", subject="new")
        parent = f"{phase}.{number - 1}@fairness.example"
        if number % 3 == 1:
            message = Message(msgid, sender=message.sender, subject="new", inreplyto=parent)
        sent[msgid] = wall_clock()
        append_messages(services.tables(), DjangoClock(), [message])
        run_soon(TICK)
        time.sleep(options["every"])
    expected = {msgid for n, msgid in enumerate(sent) if n % FILTERS_EACH % 3 != 1 or n % 3 == 1}
    return list(_wait_for_matches({msgid: sent[msgid] for msgid in expected}))


def _wait_for_matches(sent: dict[str, int]) -> Iterator[float]:
    ours = Match.objects.filter(filter__owner__username__startswith="p", msgid__in=list(sent))
    wait_until(
        lambda: ours.values("msgid", "filter__owner").count() == PEOPLE * len(sent), LAST_SECONDS
    )
    for msgid, stored_at in ours.values_list("msgid", "stored_at"):
        yield (stored_at - sent[msgid]) / SECOND


def _p95(seconds: list[float]) -> float:
    return sorted(seconds)[math.ceil(0.95 * len(seconds)) - 1]
