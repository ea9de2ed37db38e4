"""Budgets: what a person may use (a quota), and what they use (metering).

    a count, or bytes ── at its budget ─> no more is taken in, in words
    seconds an hour ─── over ───────────> filters that run by themselves run hourly
    deliveries a day ── over ───────────> what a destination is sent comes hourly

A budget is of one person, those of groups too: these are what each member may use.  So what one
uses is never missing from another's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Sum

from filters.delivery.models import Delivery, Destination
from filters.people import people
from filters.people.models import User
from filters.site.settings.budgets import EVERYBODY, KINDS
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.core.errors import TapestryError


class Use(NamedTuple):
    """What is used of a budget, and all of it."""

    kind: str
    words: str
    used: int
    budget: int


def budget(user: User, kind: str) -> int:
    """Return a budget of a person: their own, else the most of their groups', else the usual.

    ``kind`` is one of ``filters.site.settings.budgets``.
    """
    _, own, *groups = (settings.BUDGETS.get(whose, {}) for whose in people.audiences(user))
    shared = [of_group[kind] for of_group in groups if kind in of_group]
    usual: int = settings.BUDGETS[EVERYBODY][kind]
    return own.get(kind, max(shared, default=usual))


def least_budget(kind: str) -> int:
    """Return the smallest budget that anybody has: below it nobody needs to be asked for."""
    return min(kinds[kind] for kinds in settings.BUDGETS.values() if kind in kinds)


def used(user: User, kind: str) -> int:
    """Return how much of a budget a person uses: ``deliveries`` to the place that had most."""
    match kind:
        case "filters" | "aggregates" | "sources" | "destinations":
            return int(getattr(user, kind).count())
        case "tokens":
            return user.access_tokens.count()
        case "drafts":
            return user.outgoing_messages.filter(state="draft").count()
        case "bytes":
            same = User.objects.filter(pk=user.pk).order_by()
            kept = ("outgoing_messages__attachments__size", "jmap_account__uploads__size")
            return sum(same.aggregate(size=Sum(sizes))["size"] or 0 for sizes in kept)
        case "seconds" if user.evaluated_hour == wall_clock() // HOUR:
            return int(user.evaluated_seconds)
        case "deliveries":
            return max(delivered_today(user.destinations.all(), wall_clock()).values(), default=0)
    return 0


def delivered_today(destinations: Iterable[Destination], now: int) -> Counter[int]:
    """Return how often destinations were delivered to in the 24 hours before an instant, by key.

    What had no new match does not count: nothing was sent.
    """
    sent = Delivery.objects.filter(
        destination__in=destinations, state=Delivery.State.DELIVERED, at__gt=now - DAY, at__lte=now
    )
    counts = sent.exclude(by_filter={}).order_by().values_list("destination")
    return Counter(dict(counts.annotate(Count("pk"))))


def uses(user: User) -> list[Use]:
    """Return what a person uses of each of their budgets."""
    return [
        Use(kind, words, used(user, kind), budget(user, kind)) for kind, (_, words) in KINDS.items()
    ]


def is_used_up(user: User, kind: str) -> bool:
    """Tell whether nothing is left of a budget."""
    return used(user, kind) >= budget(user, kind)


def shortage_of(user: User, kind: str, more: int = 1) -> str:
    """Return that so many more are more than a person may have; empty if they are not."""
    have, most = used(user, kind), budget(user, kind)
    return "" if have + more <= most else f"You have {have:,} {kind}; you may have {most:,}."


def require_room(user: User, kind: str, more: int = 1) -> None:
    """Raise TapestryError if so many more are more than a person may have."""
    if shortage := shortage_of(user, kind, more):
        raise TapestryError(shortage, hint="Delete what you no longer need.")
