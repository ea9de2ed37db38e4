"""How fast digests are written and sent, when very many people are due at the same time."""

from __future__ import annotations

import os
import statistics
import time
from argparse import ArgumentParser
from typing import Any

from django.db.models import F

from filters.authoring.models import Filter
from filters.delivery.models import Address, Delivery, Destination
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.site.work.queues.queue import DELIVER_DUE, run_soon
from tapestry.core.clock import DAY, SECOND, wall_clock
from tests.bench.support.site import running_site, wait_until

SUMMARY = "digests a second, when very many people are due at once, on all parts running"

FIGURES = {
    "digests a second, {people:,} people due at once, {matches} matches each, two workers": (
        "{digests_per_second:,}"
    ),
    "from release to delivery meanwhile, for one whose match comes last": (
        "{latecomer_median_seconds} s"
    ),
}

TIMEOUT = 1800.0
LATECOMERS_EVERY = 2.0
"""Seconds between two matches of somebody who is served at once."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--people", type=int, default=4_000, help="who are due at once (4000)")
    parser.add_argument("--matches", type=int, default=30, help="of each of them (30)")
    parser.add_argument(
        "--email", default="dummymail://", help="EMAIL_URL of the server that takes them (none)"
    )


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return how many digests a second were delivered, and how long a latecomer waited."""
    os.environ["EMAIL_URL"] = options["email"]
    people, matches = options["people"], options["matches"]
    with running_site():
        filters = _fill(people, matches)
        late = _person("late", 1)
        wait_until(lambda: _served(late) == 1, 60.0)
        now = wall_clock()
        Match.objects.filter(filter__in=filters).update(shown_at=now, stored_at=now)
        began = time.monotonic()
        waits: list[float] = []
        run_soon(DELIVER_DUE)
        while (served := _crowd_served()) < people:
            if time.monotonic() - began > TIMEOUT:
                break
            if len(waits) < 11:
                waits.append(_wait_of_latecomer(late, f"late-{len(waits)}"))
            time.sleep(LATECOMERS_EVERY)
        last = Delivery.objects.filter(destination__owner__username__startswith="p").latest("at")
        seconds = (last.at - now) / SECOND
    return {
        "people": people,
        "matches": matches,
        "served": served,
        "seconds": round(seconds, 1),
        "digests_per_second": round(served / seconds),
        "latecomer_median_seconds": round(statistics.median(waits), 2) if waits else None,
        "latecomer_most_seconds": round(max(waits), 2) if waits else None,
    }


def _fill(people: int, matches: int) -> list[int]:
    """Make people with a filter, a confirmed address and matches that wait; return the filters."""
    users = User.objects.bulk_create(
        User(username=f"p{n}", email=f"p{n}@x.org") for n in range(people)
    )
    filters = Filter.objects.bulk_create(
        Filter(owner=user, name="news", text="from joe", phrase="from joe") for user in users
    )
    addresses = Address.objects.bulk_create(
        Address(owner=user, email=user.email, confirmed_at=1) for user in users
    )
    Destination.objects.bulk_create(
        Destination(owner=user, kind="digest", name="digest", address=address)
        for user, address in zip(users, addresses, strict=True)
    )
    cards = [_card(f"m{n}") for n in range(max(matches, 1000))]
    later = wall_clock() + DAY
    Match.objects.bulk_create(
        (
            _match(filter_, cards[(number * 7 + place) % len(cards)], later)
            for place, filter_ in enumerate(filters)
            for number in range(matches)
        ),
        batch_size=500,
    )
    return [filter_.pk for filter_ in filters]


def _card(name: str) -> Card:
    now = wall_clock()
    return Card.objects.create(
        msgid=f"<{name}@x.org>",
        audience="public",
        ts=now,
        received=now - DAY,
        sender="joe@x.org",
        sender_name="Joe Doe",
        subject=f"Re: what became of the proposal about {name}",
        root=f"<{name}@x.org>",
    )


def _match(filter_: Filter, card: Card, shown_at: int) -> Match:
    now = wall_clock()
    return Match(
        filter=filter_,
        msgid=card.msgid,
        audience="public",
        card=card,
        matched_at=now,
        stored_at=now,
        shown_at=shown_at,
        refreshed_at=now,
        explanation="from joe",
    )


def _person(name: str, matches: int) -> Destination:
    user = User.objects.create_user(name, f"{name}@x.org")
    filter_ = Filter.objects.create(owner=user, name="news", text="from joe", phrase="from joe")
    address = Address.objects.create(owner=user, email=user.email, confirmed_at=1)
    destination = Destination.objects.create(
        owner=user, kind="forward", name="each", address=address
    )
    for number in range(matches):
        _match(filter_, _card(f"{name}-first-{number}"), wall_clock()).save()
    return destination


def _wait_of_latecomer(destination: Destination, name: str) -> float:
    """Give somebody a match that is shown at once, and return the seconds until it is sent."""
    before, began = _served(destination), time.monotonic()
    filter_ = Filter.objects.get(owner=destination.owner)
    _match(filter_, _card(name), wall_clock()).save()
    run_soon(DELIVER_DUE)
    wait_until(lambda: _served(destination) > before, TIMEOUT)
    return time.monotonic() - began


def _served(destination: Destination) -> int:
    return Delivery.objects.filter(destination=destination).count()


def _crowd_served() -> int:
    crowd = Destination.objects.filter(owner__username__startswith="p", latest__gt=0)
    return crowd.filter(cursor__gte=F("latest")).count()
