"""How fast the pages are of one person with very many deliveries and filters.

Each page is asked for through Django's test client, in this process, when all is warm.  Times
are of the processor: with SQLite all is done in this process.
"""

from __future__ import annotations

import random
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from filters.authoring.models import Filter
from filters.inbox import counts
from filters.inbox.appraisal.upkeep import appraise, rules_changed
from filters.inbox.models import AppraiserRule, Card, Match, MessageState, Mute
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.db.bulk import insert_rows
from filters.site.work.parts import services
from filters.upkeep.statistics import renew_statistics
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.core.message import Message
from tapestry.tables.write.append import append_messages

SUMMARY = "the pages of one person with many deliveries and filters, and the poll"

FIGURES = {
    "the inbox, {deliveries:,} deliveries, {filters:,} filters": "{inbox_ms} ms",
    "its page 20": "{inbox_20_ms} ms",
    "the largest filter’s list": "{largest_ms} ms",
    "the slowest of all pages, {slowest}": "{slowest_ms} ms, {most_queries} queries at most",
    "far down: page 200, and the last one": "{inbox_200_ms} ms; {inbox_last_ms} ms",
    "the last one by importance": "{importance_last_ms} ms",
    "the poll, when nothing is new": "{poll_ms} ms",
}

PAGES = {
    "inbox": "/",
    "inbox, page 20": "/?page=20",
    "the inbox by importance": "/by-importance/",
    "by importance, page 20": "/by-importance/?page=20",
    "the largest filter": "/in/filter-0/",
    "a small filter": "/in/filter-900/",
    "starred": "/starred/",
    "snoozed": "/snoozed/",
    "done": "/done/",
    "muted": "/muted/",
    "a message": "/message/?id=m0",
    "the list of filters": "/filters/",
    "a new filter": "/filters/new/",
    "a filter that is changed": "/filter/filter-0/edit/",
    "import and export": "/filters/import/",
    "the rules of importance": "/importance/",
    "shared filters": "/shared/",
    "an empty search": "/search/",
    "a new message": "/compose/",
    "drafts": "/drafts/",
    "delivery": "/delivery/",
    "the feeds": "/feeds/",
    "one’s own page": "/me/",
    "security": "/me/security/",
    "the sources": "/sources/",
}

MESSAGE_PAGES = {
    f"{name}, a line for each message": PAGES[name]
    for name in ("inbox", "inbox, page 20", "the inbox by importance", "the largest filter", "done")
}
"""Pages as they are for who has no conversations as lines."""

FAR_PAGES = {
    "inbox_200_ms": "/?page=200",
    "inbox_last_ms": "/?page=99999",
    "importance_last_ms": "/by-importance/?page=99999",
}
"""Pages of the inbox to which nobody turns page by page."""

DAYS = 730
"""Over so many days the deliveries came."""

CARD = ("msgid", "audience", "ts", "received", "sender", "sender_name", "subject", "root")
MATCH = (
    *("filter", "msgid", "audience", "matched_at", "stored_at", "shown_at", "card"),
    *("refreshed_at", "read_at", "sequence"),
)

RULES = ((5, "from p7"), (1, "per vote"), (2, "unread"), (-3, "older than a week"))
"""The person's appraiser rules."""

MUTED = 40
"""Threads that the person has muted."""

UNREAD_DAYS = 14
"""What is older has been read."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--deliveries", type=int, default=100_000, help="in all (100000)")
    parser.add_argument("--filters", type=int, default=1_000, help="of the person (1000)")
    parser.add_argument("--repeat", type=int, default=7, help="requests of each page (7)")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the median time of each page and its queries, and those of the poll."""
    person = _fill(options["deliveries"], options["filters"])
    client = Client(headers={"host": "localhost"})
    client.force_login(person)
    pages = {
        name: _measured(client, address, options["repeat"])
        for name, address in PAGES.items()
        if name != "a small filter" or options["filters"] > 900
    }
    mark = counts.sidebar(person).mark
    pages["the poll, nothing new"] = _measured(
        client, f"/sidebar/?seen={mark}", options["repeat"] * 3, 204
    )
    pages["the poll, something new"] = _measured(client, "/sidebar/?seen=x", options["repeat"])
    far = {
        name: _measured(client, address, options["repeat"])["median_ms"]
        for name, address in FAR_PAGES.items()
    }
    User.objects.filter(pk=person.pk).update(conversations=False)
    for name, address in MESSAGE_PAGES.items():
        pages[name] = _measured(client, address, options["repeat"])
    slowest = max(pages, key=lambda name: pages[name]["median_ms"])
    return {
        "deliveries": Match.objects.count(),
        "filters": options["filters"],
        "inbox_ms": pages["inbox"]["median_ms"],
        "inbox_20_ms": pages["inbox, page 20"]["median_ms"],
        "largest_ms": pages["the largest filter"]["median_ms"],
        "slowest": slowest,
        "slowest_ms": pages[slowest]["median_ms"],
        "poll_ms": pages["the poll, nothing new"]["median_ms"],
        **far,
        "most_queries": max(figures["queries"] for figures in pages.values()),
        "pages": pages,
    }


def _measured(client: Client, address: str, repeat: int, status: int = 200) -> dict[str, Any]:
    """Ask for a page until it is warm, and then so often; return the median time and queries."""
    times = []
    for _ in range(repeat + 1):
        began = time.process_time()
        response = client.get(address)
        times.append(time.process_time() - began)
        assert response.status_code == status, f"{address}: {response.status_code}"
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return {
        "median_ms": round(statistics.median(times[1:]) * 1000, 1),
        "queries": len(queries),
    }


def _fill(deliveries: int, filters: int) -> User:
    """Make the person; the filters share the deliveries by Zipf's law."""
    chance = random.Random(1992)
    person = User.objects.create_user("terry", password="secret", time_zone="Europe/Berlin")
    made = Filter.objects.bulk_create(
        Filter(owner=person, name=f"filter-{n}", text=f"from p{n}", phrase=f"from p{n}", tql="…")
        for n in range(filters)
    )
    letters = [
        Message(f"m{n}", sender=f"p{n}@x.org", subject=f"About {n}", body="Yes.\n" * 20)
        for n in range(2_000)
    ]
    append_messages(services.tables(), DjangoClock(), letters)
    weights = [1 / (n + 1) for n in range(filters)]
    with transaction.atomic():
        insert_rows(Card, CARD, _cards(deliveries, chance))
        insert_rows(Match, MATCH, _matches(made, weights, chance))
    treated = Card.objects.order_by("?").values_list("msgid", flat=True)[: deliveries // 2]
    now = wall_clock()
    MessageState.objects.bulk_create(
        (
            MessageState(
                owner=person, msgid=msgid, audience="public", changed_at=now + n,
                done_at=now - n * HOUR if n % 50 else None,
                starred_at=now - n * HOUR if n % 50 == 0 else None,
                snoozed_until=now + n * HOUR if n % 100 == 0 else None,
            )
            for n, msgid in enumerate(treated)
        ),
        batch_size=100,
    )  # fmt: skip
    roots = Card.objects.order_by("-ts").values_list("root", flat=True)[: MUTED * 7 : 7]
    Mute.objects.bulk_create(Mute(owner=person, root=root) for root in set(roots))
    for place, (weight, text) in enumerate(RULES):
        AppraiserRule.objects.create(owner=person, place=place, weight=weight, text=text)
    rules_changed(person)
    while appraise(services.tables()):
        pass
    renew_statistics()
    return person


def _cards(deliveries: int, chance: random.Random) -> Iterator[tuple[Any, ...]]:
    """Yield the cards of most deliveries; some messages are found by two filters."""
    now = wall_clock()
    for n in range(deliveries * 9 // 10):
        at, who = now - round(n * DAYS * DAY / deliveries), f"p{n % 500}"
        subject = f"Re: what became of the proposal {n}"
        received = at - chance.randrange(HOUR)
        yield f"m{n}", "public", at, received, f"{who}@x.org", who, subject, f"m{n - n % 7}"


def _matches(
    filters: list[Filter], weights: list[float], chance: random.Random
) -> Iterator[tuple[Any, ...]]:
    unread_since = wall_clock() - UNREAD_DAYS * DAY
    keys = [filter_.pk for filter_ in filters]
    for key, msgid, at in Card.objects.order_by("pk").values_list("pk", "msgid", "ts"):
        for filter_id in set(chance.choices(keys, weights, k=2 if key % 9 == 0 else 1)):
            read_at = None if at > unread_since else at + HOUR
            yield filter_id, msgid, "public", at, at, at, key, at, read_at, at
