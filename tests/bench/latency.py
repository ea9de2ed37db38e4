"""How long mail takes from its arrival at an IMAP server to the list, and to an SMTP server.

APPEND ─ IDLE ─> pulled ─> matched ─> in the list ─> released ─> forwarded ─> SMTP
"""

from __future__ import annotations

import math
import os
import statistics
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote, urlsplit

from aiosmtpd.controller import Controller
from imapclient import IMAPClient

from filters.authoring.models import Filter
from filters.delivery.models import Address, Destination
from filters.inbox.models import Match
from filters.people.models import User
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port
from tests.bench.support.site import running_site, wait_until

SUMMARY = "seconds from arrival at an IMAP server to the list, and to the SMTP server"

FIGURES = {
    "from the IMAP server to the list, half and 95 of 100, {others} other filters": (
        "{inbox_p50_seconds} s; {inbox_p95_seconds} s"
    ),
    "from the IMAP server to the SMTP server, half and 95 of 100, {others} other filters": (
        "{smtp_p50_seconds} s; {smtp_p95_seconds} s"
    ),
}

PEOPLE, FILTERS_EACH = 10, 20
"""Others, and the filters of each of them."""

WARM = 15
"""Messages before those that are measured."""

OF_A_FILTER = 25
"""Messages of one filter: where it finds many more, they come as one digest."""

LAST_SECONDS = 60.0
"""Seconds that a message may take; one that takes longer ends the measurement."""

SETTLE_SECONDS = 600.0
"""Seconds that the filters may take to join the shared window."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--imap", required=True, metavar="URL", help="a mailbox: imap://user:password@host:port/"
    )
    parser.add_argument("--messages", type=int, default=40, help="that are measured (40)")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two messages (2)")


class Arrivals:
    """An SMTP handler: when the message with each Message-ID came."""

    def __init__(self) -> None:
        self.instants: dict[str, float] = {}
        self.came = threading.Condition()

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        name = str(message_from_bytes(envelope.content)["Message-ID"])
        with self.came:
            self.instants.setdefault(name, time.monotonic())
            self.came.notify_all()
        return "250 OK"

    def wait_for(self, name: str) -> float:
        """Return when a message came; raise TapestryError if it does not in ``LAST_SECONDS``."""
        with self.came:
            if not self.came.wait_for(lambda: name in self.instants, LAST_SECONDS):
                raise TapestryError(f"A message was not sent in {LAST_SECONDS:.0f} seconds.")
            return self.instants[name]


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return percentiles of the seconds from the IMAP server to the list and to SMTP.

    Raises TapestryError if a message does not arrive, or the mailbox cannot be used.
    """
    url = urlsplit(options["imap"])
    if url.scheme != "imap" or not url.username or not url.hostname:
        raise TapestryError(
            "The address names no mailbox.", hint="Write imap://user:password@host:port/"
        )
    mailbox = (url.hostname, url.port or 143, unquote(url.username), unquote(url.password or ""))
    os.environ["TAPESTRY_PRIVATE_HOSTS"] = url.hostname
    with _smtp_server() as arrivals, running_site():
        person = _fill(*mailbox, -(-(WARM + options["messages"]) // OF_A_FILTER))
        run_soon(UNPROVEN_WINDOWS)
        wait_until(lambda: not Filter.objects.filter(enrolled=False).exists(), SETTLE_SECONDS)
        wait_until(lambda: Source.objects.filter(listened_at__gt=0).exists(), SETTLE_SECONDS)
        with IMAPClient(*mailbox[:2], ssl=False) as client:
            client.login(*mailbox[2:])
            waits = list(_waits(client, person, arrivals, options))[WARM:]
    inbox, smtp = zip(*waits, strict=True)
    return {
        "messages": len(waits),
        "others": PEOPLE * FILTERS_EACH,
        **_percentiles("inbox", inbox),
        **_percentiles("smtp", smtp),
    }


@contextmanager
def _smtp_server() -> Iterator[Arrivals]:
    """Run an SMTP server, to which the parts that are started in the block send their mail."""
    arrivals, port = Arrivals(), free_port()
    controller = Controller(arrivals, "127.0.0.1", port)
    controller.start()
    os.environ["EMAIL_URL"] = f"smtp://127.0.0.1:{port}"
    try:
        yield arrivals
    finally:
        controller.stop()


def _fill(host: str, port: int, user: str, password: str, filters: int) -> User:
    """Install the filters of others; return a person with a source, a destination and filters."""
    from filters.authoring.lifecycle import install

    person = User.objects.create_user("terry", "terry@latency.example")
    address = Address.objects.create(owner=person, email=person.email, confirmed_at=1)
    Destination.objects.create(owner=person, kind="forward", name="each", address=address)
    source = Source(
        owner=person, kind="imap", host=host, port=port, security="none", user=user,
        folder_patterns=["INBOX"], active=True, audience=f"user:{person.username}",
    )  # fmt: skip
    keep_secret(source, password)
    source.save()
    for number in range(PEOPLE):
        other = User.objects.create_user(f"p{number}")
        for place in range(FILTERS_EACH):
            sender = f"s{place}@latency.example"
            texts = (f"from {sender}", f"replies by {sender}", f"from {sender} with no reply")
            install(other, texts[place % 3], name=f"f{place}", existing=False)
    for number in range(filters):
        install(person, f"from joe{number}@latency.example", name=f"joe{number}", existing=False)
    return person


def _waits(
    client: IMAPClient, person: User, arrivals: Arrivals, options: dict[str, Any]
) -> Iterator[tuple[float, float]]:
    """Append a message now and then; yield the seconds until it was listed, and was sent."""
    for number in range(WARM + options["messages"]):
        name = f"{time.monotonic_ns()}.{number}@latency.example"
        letter = EmailMessage()
        sender = f"joe{number // OF_A_FILTER}@latency.example"
        letter["From"], letter["To"] = f"Joe <{sender}>", "terry@latency.example"
        letter["Message-ID"], letter["Subject"] = f"<{name}>", f"Number {number}"
        letter.set_content("This is new.\n")
        began = time.monotonic()
        client.append("INBOX", bytes(letter))
        listed = _seconds_until_listed(person, name, began)
        yield listed, arrivals.wait_for(f"<{name}>") - began
        time.sleep(max(0.0, began + options["every"] - time.monotonic()))


def _seconds_until_listed(person: User, name: str, began: float) -> float:
    """Wait until a message is in a person's inbox: it has matched, and has its card."""
    rows = Match.objects.filter(filter__owner=person, msgid=name, card__isnull=False)
    while not rows.exists():
        if time.monotonic() - began > LAST_SECONDS:
            raise TapestryError(f"A message was not matched in {LAST_SECONDS:.0f} seconds.")
        time.sleep(0.05)
    return time.monotonic() - began


def _percentiles(name: str, seconds: tuple[float, ...]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        f"{name}_p50_seconds": round(statistics.median(ordered), 2),
        f"{name}_p95_seconds": round(ordered[math.ceil(0.95 * len(ordered)) - 1], 2),
        f"{name}_most_seconds": round(ordered[-1], 2),
    }
