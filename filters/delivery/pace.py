"""How many mails a day “at once” would have been, to be told before it is chosen."""

from __future__ import annotations

from collections import defaultdict

from filters.inbox.models import Match
from filters.people.models import User
from tapestry.core.clock import DAY, HOUR, MINUTE, wall_clock

MOST_AN_HOUR = 12
"""Digests of a destination in an hour."""

DAYS = 7
"""Days that are looked back over."""

MOST = 50_000
"""Matches that are looked at, the newest."""


def mails_a_day(owner: User) -> int:
    """Return how many mails a day what was found of late would have been at once, rounded up.

    What is found in the same minute comes in one mail.
    """
    since = wall_clock() - DAYS * DAY
    found = Match.objects.filter(filter__owner=owner, stored_at__gte=since).order_by("-stored_at")
    minutes: dict[int, set[int]] = defaultdict(set)
    for stored_at in found.values_list("stored_at", flat=True)[:MOST]:
        minutes[stored_at // HOUR].add(stored_at // MINUTE)
    mails = sum(min(MOST_AN_HOUR, len(same)) for same in minutes.values())
    return -(-mails // DAYS)
