"""Floods: a filter that delivers far more than expected is not let loose on a mailbox.

Its messages come as one digest with a note, and digests themselves are limited by the hour.  Where
the deliveries of a day are used up (filters.people.budgets), what follows comes hourly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from filters.authoring.models import Filter
from filters.delivery.dispatch.scope import matches_in, scopes_of
from filters.delivery.models import TIMED_AT, TIMELINESS, Delivery, Destination
from filters.people.budgets import budget, delivered_today, least_budget
from filters.site.work.clock_step import SLACK
from tapestry.core.clock import DAY, HOUR, wall_clock
from tapestry.deliver.timing.flood import is_flood, time_until_free
from tapestry.deliver.timing.quiet import NO_RULES, allowed_from
from tapestry.deliver.timing.timeliness import parse_timeliness, shown_at


def flooding(
    destination: Destination, counts: Mapping[int, int], since: int | None = None
) -> list[int]:
    """Return the filters that flood beyond the usual: in the hour before ``since``.

    That is when a range was tried first: what is no flood then is none at a later try of it, by
    default now.
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
    return [
        filter_id
        for filter_id, count in counts.items()
        if is_flood(hour[filter_id] + count, week[filter_id])
    ]


def note_on(counts: Mapping[int, int], *, over: bool) -> str:
    """Return what is said of filters in the digest of so many messages of each.

    They flood, or the deliveries of a day are used up (``over``).
    """
    why = "after the deliveries of a day" if over else "far more than usual"
    return " ".join(
        f"{filter_.display_name} found {counts[key]:,} messages, {why}, so they come as one digest."
        for key, filter_ in Filter.objects.in_bulk(counts).items()
    )


class Wait(NamedTuple):
    """Until when nothing is sent to a destination, and why: a clause for its owner."""

    until: int
    why: str


def used_up(destinations: Collection[Destination], now: int) -> set[int]:
    """Return those of the destinations that were delivered to as often as a day's budget allows."""
    counts, least = delivered_today(destinations, now), least_budget("deliveries")
    often = [row for row in destinations if counts[row.pk] >= least]
    return {row.pk for row in often if counts[row.pk] >= budget(row.owner, "deliveries")}


def waits(destinations: Collection[Destination]) -> dict[int, Wait]:
    """Return until when each destination may not be served, for those that must wait.

    They wait for the end of their owner's quiet hours or holiday, were served often, or are
    digests that come at times of their own.
    """
    now = wall_clock()
    found: dict[int, Wait] = {}
    for pk, wait in chain(
        _rests(destinations, now), _limits(destinations, now), _times(destinations, now)
    ):
        if wait.until > max(now, found[pk].until if pk in found else now):
            found[pk] = wait
    return found


def _rests(destinations: Collection[Destination], now: int) -> Iterator[tuple[int, Wait]]:
    """Yield when the owners' quiet hours and holidays end."""
    for destination in destinations:
        owner = destination.owner
        if owner.rules != NO_RULES:
            end = allowed_from(owner.rules, now, owner.zone)
            yield destination.pk, Wait(end, "your quiet hours or your holiday end then")


def _limits(destinations: Collection[Destination], now: int) -> Iterator[tuple[int, Wait]]:
    """Yield when those may be served again that were served often.

    What was sent at an instant to come does not count: the clock was set back since.  Nor does
    what had no new match: nothing was sent.
    """
    limits = {row.pk: most for row in destinations if (most := row.way.most_an_hour)}
    recent = Delivery.objects.filter(
        destination__in=limits, state=Delivery.State.DELIVERED, at__gt=now - HOUR, at__lte=now
    ).exclude(by_filter={})
    instants: dict[int, list[int]] = defaultdict(list)
    for pk, at in recent.order_by("-at").values_list("destination", "at"):
        instants[pk].append(at)
    for pk, latest in instants.items():
        why = f"{limits[pk]} were sent within an hour, as many as may be"
        yield pk, Wait(now + time_until_free(latest, limits[pk], now), why)


def _times(destinations: Collection[Destination], now: int) -> Iterator[tuple[int, Wait]]:
    """Yield when digests come next that have times of their own, by what has waited longest.

    So what comes hourly, for the deliveries of a day are used up.
    Times that were chosen meanwhile, or a time zone, count from then on.  What has waited since an
    instant to come was shown before the clock was set back: its digest comes at the next time from
    now on, and is due for an hour, though it is tried again or behind a crowd.
    """
    over = used_up(destinations, now)
    for destination in destinations:
        times: list[tuple[str, str]] = []
        if text := destination.settings.get(TIMELINESS):
            times.append((text, f"it comes {text}"))
        if destination.pk in over:
            times.append(("hourly", "it comes hourly, for the deliveries of a day are used up"))
        since = first_waiting(destination) if times else None
        if since is None:
            continue
        since = max(since, destination.settings.get(TIMED_AT, 0))
        since = now - HOUR if since > now + SLACK else since
        for text, why in times:
            instant = shown_at(parse_timeliness(text), since, destination.owner.zone)
            yield destination.pk, Wait(instant, why)


def first_waiting(destination: Destination) -> int | None:
    """Return when the first of the matches was shown that wait for a destination, if any do."""
    until = destination.claimed_until or destination.latest
    firsts = [
        rows.order_by("sequence").values_list("sequence", "shown_at", "retracted_at").first()
        for rows in matches_in(scopes_of({destination: until}).values())
    ]
    found = min((row for row in firsts if row is not None), default=None)
    return None if found is None else max(found[1] or 0, found[2] or 0)
