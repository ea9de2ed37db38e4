"""How long mail takes from its arrival at an IMAP server to a list, and to whom that is brought.

APPEND ─ IDLE ─> pulled ─> matched ─> in the list ─┬─ released ─> forwarded (SMTP), webhook
                                                   └─ a look at it ─> IDLE, JMAP, MCP
"""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote, urlsplit

from imapclient import IMAPClient

from filters.api.authentication import make_token
from filters.authoring.models import Filter
from filters.delivery.models import Address, Destination
from filters.inbox.models import Match
from filters.people.models import User
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts import services
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Source
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port
from tapestry.deliver.http.signature import make_secret
from tests.bench.support.bulk_install import Population
from tests.bench.support.receivers import (
    LAST_SECONDS,
    Arrivals,
    assistant,
    jmap_program,
    mail_program,
    smtp_server,
    webhook,
)
from tests.bench.support.site import running_site, wait_until

SUMMARY = "seconds from arrival at an IMAP server to the list, and to all who wait for it"

WAYS = {
    "list": "the list",
    "smtp": "the SMTP server",
    "webhook": "a webhook",
    "idle": "a mail program that waits (IDLE)",
    "jmap": "a program that waits by JMAP (event source)",
    "mcp": "an assistant that has subscribed (MCP)",
}

FIGURES = {
    f"from the IMAP server to {where}, half and 95 of 100, {{others:,}} other filters": (
        f"{{{way}_p50_seconds}} s; {{{way}_p95_seconds}} s"
    )
    for way, where in WAYS.items()
}

WARM = 15
"""Messages before those that are measured."""

OF_A_FILTER = 25
"""Messages of one filter: where it finds many more, they come as one digest."""

SETTLE_SECONDS = 1800.0
"""Seconds that the filters may take to join the shared window."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--imap",
        required=True,
        metavar="URL",
        help="an empty mailbox: imap://user:password@host:port/",
    )
    parser.add_argument("--messages", type=int, default=40, help="that are measured (40)")
    parser.add_argument("--others", type=int, default=200, help="filters of others (200)")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two messages (2)")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return percentiles of the seconds from the IMAP server to the list and to each receiver.

    Raises TapestryError if a message does not arrive, or the mailbox cannot be used.
    """
    url = urlsplit(options["imap"])
    if url.scheme != "imap" or not url.username or not url.hostname:
        raise TapestryError(
            "The address names no mailbox.", hint="Write imap://user:password@host:port/"
        )
    mailbox = (url.hostname, url.port or 143, unquote(url.username), unquote(url.password or ""))
    os.environ["TAPESTRY_PRIVATE_HOSTS"] = f"{url.hostname},127.0.0.1"
    imap_port, count = free_port(), WARM + options["messages"]
    os.environ["TAPESTRY_IMAP"] = f"127.0.0.1:{imap_port}"
    with ExitStack() as stack:
        smtp_port, smtp = stack.enter_context(smtp_server())
        os.environ["EMAIL_URL"] = f"smtp://127.0.0.1:{smtp_port}"
        hook, posts = stack.enter_context(webhook())
        Population(services.tables().root, 0, 1, wall_clock()).grow(options["others"])
        site = stack.enter_context(running_site())
        names = [f"joe{number}" for number in range(-(-count // OF_A_FILTER))]
        person = _fill(*mailbox, names, hook)
        run_soon(UNPROVEN_WINDOWS)
        wait_until(lambda: not Filter.objects.filter(enrolled=False).exists(), SETTLE_SECONDS)
        wait_until(lambda: Source.objects.filter(listened_at__gt=0).exists(), SETTLE_SECONDS)
        secret = make_token(person, "bench", ["imap", "jmap", "read", "filters"], 1)[1]
        receivers = {
            "smtp": smtp,
            "webhook": posts,
            "idle": stack.enter_context(mail_program(imap_port, person.username, secret)),
            "jmap": stack.enter_context(jmap_program(site, secret)),
            "mcp": stack.enter_context(assistant(site, secret, names)),
        }
        client = stack.enter_context(IMAPClient(*mailbox[:2], ssl=False))
        client.login(*mailbox[2:])
        waits = list(_waits(client, person, receivers, options))[WARM:]
    figures = {way: _percentiles(way, [seconds[way] for seconds in waits]) for way in WAYS}
    return {
        "messages": len(waits),
        "others": options["others"],
        **{name: value for of_way in figures.values() for name, value in of_way.items()},
    }


def _fill(host: str, port: int, user: str, password: str, names: list[str], hook: str) -> User:
    """Return a person with a source, destinations and filters."""
    from filters.authoring.lifecycle import install

    person = User.objects.create_user("terry", "terry@latency.example")
    address = Address.objects.create(owner=person, email=person.email, confirmed_at=1)
    Destination.objects.create(owner=person, kind="forward", name="each", address=address)
    Destination.objects.create(
        owner=person,
        kind="webhook",
        name="hook",
        settings={"url": hook},
        secret=encrypt(make_secret(), services.data()),
    )
    source = Source(
        owner=person, kind="imap", host=host, port=port, security="none", user=user,
        folder_patterns=["INBOX"], active=True, audience=f"user:{person.username}",
    )  # fmt: skip
    keep_secret(source, password)
    source.save()
    for name in names:
        install(person, f"from {name}@latency.example", name=name, existing=False)
    return person


def _waits(
    client: IMAPClient, person: User, receivers: Mapping[str, Arrivals], options: dict[str, Any]
) -> Iterator[dict[str, float]]:
    """Append a message now and then; yield the seconds until it was listed, and was everywhere."""
    chance = random.Random(1992)
    for number in range(WARM + options["messages"]):
        msgid = f"{time.monotonic_ns()}.{number}@latency.example"
        letter, name = EmailMessage(), f"joe{number // OF_A_FILTER}"
        letter["From"], letter["To"] = f"Joe <{name}@latency.example>", "terry@latency.example"
        letter["Message-ID"], letter["Subject"] = f"<{msgid}>", f"Number {number}"
        letter.set_content("This is new.\n")
        began = time.monotonic()
        client.append("INBOX", bytes(letter))
        listed = _seconds_until_listed(person, msgid, began)
        known = {"smtp": msgid, "webhook": msgid, "idle": str(number + 1), "jmap": "Email"}
        known["mcp"] = name
        came = {way: receivers[way].wait_for(known[way], began) for way in receivers}
        yield {"list": listed, **came}
        rest = max(0.0, began + options["every"] - time.monotonic())
        time.sleep(rest + chance.uniform(0, options["every"]))  # in step with nobody who looks


def _seconds_until_listed(person: User, name: str, began: float) -> float:
    """Wait until a message is in a person's inbox: it has matched, and has its card."""
    rows = Match.objects.filter(filter__owner=person, msgid=name, card__isnull=False)
    while not rows.exists():
        if time.monotonic() - began > LAST_SECONDS:
            raise TapestryError(f"A message was not matched in {LAST_SECONDS:.0f} seconds.")
        time.sleep(0.05)
    return time.monotonic() - began


def _percentiles(name: str, seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        f"{name}_p50_seconds": round(statistics.median(ordered), 2),
        f"{name}_p95_seconds": round(ordered[math.ceil(0.95 * len(ordered)) - 1], 2),
        f"{name}_most_seconds": round(ordered[-1], 2),
    }
