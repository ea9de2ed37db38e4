"""Floods: a filter that delivers far more than expected is not let loose on a mailbox.

Its messages come as one digest with a note, and digests themselves are limited by the hour.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from filters.accounts import people
from filters.models import Delivery, Destination, Filter
from tapestry.core.clock import DAY, HOUR, SECOND, wall_clock
from tapestry.deliver.timing.flood import is_flood, time_until_free
from tapestry.deliver.timing.quiet import NO_RULES, allowed_from

MOST_AN_HOUR = {Destination.Kind.DIGEST: 12, Destination.Kind.PUSH: 30}
"""Deliveries of a destination in an hour, by kind; what comes faster is delivered together."""


def flooding(
    destination: Destination, counts: Mapping[int, int], since: int | None = None
) -> dict[int, str]:
    """Return, by filter, a note on each that floods beyond the usual: in the hour before ``since``.

    That is when a range was tried first, so that each try of it decides alike; by default now.
    """
    now = since or wall_clock()
    week, hour = Counter[int](), Counter[int]()
    past = Delivery.objects.filter(destination=destination, state=Delivery.State.DELIVERED)
    for at, by_filter in past.filter(at__gt=now - 7 * DAY, at__lte=now).values_list(
        "at", "by_filter"
    ):
        for filter_id, count in by_filter.items():
            week[int(filter_id)] += count
            hour[int(filter_id)] += count if at > now - HOUR else 0
    floods = [
        filter_id
        for filter_id, count in counts.items()
        if is_flood(hour[filter_id] + count, week[filter_id])
    ]
    names = Filter.objects.in_bulk(floods)
    return {
        key: f"{filter_.display_name} found {counts[key]:,} messages, far more than usual, "
        "so they come as one digest."
        for key, filter_ in names.items()
    }


def waits(destinations: Collection[Destination]) -> dict[int, float]:
    """Return the seconds until each destination may be served again, for those that must wait.

    They wait for the end of their owner's quiet hours or holiday, or were served often.
    """
    now = wall_clock()
    return _rests(destinations, now) | _limits(destinations, now)


def _rests(destinations: Collection[Destination], now: int) -> dict[int, float]:
    """Return the seconds until the owners' quiet hours and holidays end."""
    ends = {
        destination.pk: allowed_from(profile.rules, now, people.zone(profile.time_zone))
        for destination in destinations
        if (profile := getattr(destination.owner, "profile", None)) is not None
        and profile.rules != NO_RULES
    }
    return {pk: (end - now) / SECOND for pk, end in ends.items() if end > now}


def _limits(destinations: Collection[Destination], now: int) -> dict[int, float]:
    limits = {
        destination.pk: MOST_AN_HOUR.get(Destination.Kind(destination.kind))
        for destination in destinations
    }
    limited = [pk for pk, most in limits.items() if most is not None]
    recent = Delivery.objects.filter(
        destination__in=limited, state=Delivery.State.DELIVERED, at__gt=now - HOUR
    )
    instants: dict[int, list[int]] = defaultdict(list)
    for pk, at in recent.order_by("-at").values_list("destination", "at"):
        instants[pk].append(at)
    seconds = {
        pk: time_until_free(latest, limits[pk] or 0, now) / SECOND
        for pk, latest in instants.items()
    }
    return {pk: wait for pk, wait in seconds.items() if wait > 0}
