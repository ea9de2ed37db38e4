"""Floods: a filter that delivers far more than expected is not let loose on a mailbox.

Its messages come as one digest with a note, and digests themselves are limited by the hour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from filters.models import Delivery, Destination, Filter
from tapestry.core.clock import DAY, HOUR, SECOND, wall_clock
from tapestry.deliver.flood import is_flood, time_until_free

MOST_AN_HOUR = {Destination.Kind.DIGEST: 12, Destination.Kind.PUSH: 30}
"""Deliveries of a destination in an hour, by kind; what comes faster is delivered together."""


def flooding(destination: Destination, counts: Mapping[int, int]) -> dict[int, str]:
    """Return, by filter, a note on each that floods: now, or in the last hour, beyond the usual."""
    now = wall_clock()
    week, hour = Counter[int](), Counter[int]()
    past = Delivery.objects.filter(destination=destination, state=Delivery.State.DELIVERED)
    for at, by_filter in past.filter(at__gt=now - 7 * DAY).values_list("at", "by_filter"):
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
        key: f"{filter_.name} found {counts[key]:,} messages, far more than usual, "
        "so they come as one digest."
        for key, filter_ in names.items()
    }


def wait_seconds(destination: Destination) -> float:
    """Return the seconds until a destination may be served again; 0 if it may be now."""
    most = MOST_AN_HOUR.get(Destination.Kind(destination.kind))
    if most is None:
        return 0.0
    sent = Delivery.objects.filter(destination=destination, state=Delivery.State.DELIVERED)
    recent = list(sent.order_by("-pk").values_list("at", flat=True)[:most])
    return time_until_free(recent, most, wall_clock()) / SECOND
