"""How long a mail program waits for a long list as a mailbox, and by JMAP for what has changed."""

from __future__ import annotations

import imaplib
import os
import random
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from filters.api.authentication import make_token
from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from filters.jmap.records import account_of
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.db.bulk import insert_rows
from filters.site.work.parts import services
from tapestry.core.message import PUBLIC, Message
from tapestry.core.processes.child_process import free_port
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages

SUMMARY = "a long list as a mailbox: select it, read envelopes, ask what is new"

FIGURES = {
    "SELECT {messages:,} messages for the first time, giving them UIDs": (
        "{first_ms:,.0f} ms of the processor"
    ),
    "SELECT them again": "{select_ms:.0f} ms",
    "FETCH 100 envelopes of them; 100 whole messages": "{envelopes_ms:.0f} ms; {bodies_ms:.0f} ms",
    "FETCH all their flags": "{flags_ms:,.0f} ms",
    "NOOP, when nothing is new": "{noop_ms:.0f} ms",
    "by JMAP: what has changed, when one of them has; when none has": (
        "{changed_ms:,.0f} ms; {unchanged_ms:.0f} ms"
    ),
}

CARD = ("msgid", "audience", "ts", "received", "sender", "subject", "made_at")
MATCH = (
    "filter",
    "msgid",
    "audience",
    "matched_at",
    "stored_at",
    "shown_at",
    "card",
    "sequence",
    "read_at",
)

BATCH = 2_000

UNREAD = 50
"""Of so many messages one is unread."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--messages", type=int, default=50_000, help="in the mailbox (50000)")
    parser.add_argument("--repeat", type=int, default=7, help="commands of each kind (7)")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the time of the processor that each command takes at a server of its own."""
    count, repeat = options["messages"], options["repeat"]
    _fill(count)
    secret = make_token(User.objects.get(), "bench", ["imap"], 1)[1]
    chance = random.Random(1992)
    with _server() as (port, server):
        client = imaplib.IMAP4("127.0.0.1", port)
        client.login("terry", secret)

        def ms(command: Callable[[], Any], times: int = repeat) -> float:
            before = sum(server.cpu_times()[:2])
            for _ in range(times):
                answer, data = command()
                if answer != "OK":
                    raise ValueError(str(data)[:200])
            return round((sum(server.cpu_times()[:2]) - before) * 1000 / times, 1)

        def some() -> str:
            first = chance.randrange(1, max(2, count - 99))
            return f"{first}:{first + 99}"

        def select() -> Any:
            return client.select("Filters/all")

        figures = {
            "messages": count,
            "first_ms": ms(select, 1),
            # What leaves garbage, which is collected later, comes last.
            "noop_ms": ms(client.noop),
            "envelopes_ms": ms(lambda: client.fetch(some(), "(UID FLAGS ENVELOPE)")),
            "bodies_ms": ms(lambda: client.fetch(some(), "(BODY.PEEK[])")),
            "select_ms": ms(select),
            "flags_ms": ms(lambda: client.fetch("1:*", "(FLAGS)"), 1),
        }
        client.logout()
    return figures | _by_jmap(repeat)


def _by_jmap(repeat: int) -> dict[str, float]:
    owner = User.objects.get()
    account_of(owner)
    unchanged_ms = cpu_ms(lambda: account_of(owner), repeat)
    read = iter(Match.objects.filter(read_at__isnull=False).values_list("pk", flat=True)[:repeat])

    def change() -> None:
        Match.objects.filter(pk=next(read)).update(read_at=None)
        account_of(owner)

    return {"changed_ms": cpu_ms(change, repeat), "unchanged_ms": unchanged_ms}


def cpu_ms(work: Callable[[], object], times: int) -> float:
    """Return the milliseconds of the processor that some work takes, on average."""
    before = time.process_time()
    for _ in range(times):
        work()
    return round((time.process_time() - before) * 1000 / times, 1)


def _fill(count: int) -> None:
    owner = User.objects.create_user("terry")
    filter_ = Filter.objects.create(owner=owner, name="all", text="all", phrase="all", tql="…")
    for begin in range(0, count, BATCH):
        numbers = range(begin, min(begin + BATCH, count))
        letters = [
            Message(f"m{n}@x", sender=f"p{n}@x.org", subject=f"About {n}", body="Yes.")
            for n in numbers
        ]
        originals = [Original(_raw(n)) for n in numbers]
        ts = append_messages(services.tables(), DjangoClock(), letters, originals=originals).ts
        rows = ((f"m{n}@x", PUBLIC, ts, ts + n, f"p{n}@x.org", f"About {n}", ts) for n in numbers)
        insert_rows(Card, CARD, rows)
    cards = Card.objects.order_by("pk").values_list("msgid", "ts", "pk")
    matches = (
        (filter_.pk, msgid, PUBLIC, ts, ts, ts, pk, place, ts if place % UNREAD else None)
        for place, (msgid, ts, pk) in enumerate(cards, 1)
    )
    insert_rows(Match, MATCH, matches)


def _raw(number: int) -> bytes:
    head = f"From: Person {number} <p{number}@x.org>\nTo: list@x.org\nSubject: About {number}\n"
    received = f"Received: from a by b; Mon, 2 Feb 2026 10:00:00 +0000\nMessage-ID: <m{number}@x>\n"
    text = "All that there is to say of it is said in some lines.\n" * 40
    return f"{received}{head}Date: Mon, 2 Feb 2026 10:00:00 +0000\n\n{text}".encode()


@contextmanager
def _server() -> Iterator[tuple[int, psutil.Process]]:
    """Run the server without TLS on loopback; yield its port, and its process."""
    port = free_port()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tapestry.settings",
        "TAPESTRY_DATA": str(services.data()),
        "TAPESTRY_IMAP": f"127.0.0.1:{port}",
    }
    command = [sys.executable, "-m", "filters.site.launch.imap_server"]
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(command, cwd=root, env=environment) as server:
        try:
            while True:
                try:
                    imaplib.IMAP4("127.0.0.1", port).logout()
                    break
                except OSError:
                    if server.poll() is not None:
                        raise
                    time.sleep(0.1)
            yield port, psutil.Process(server.pid)
        finally:
            server.terminate()
