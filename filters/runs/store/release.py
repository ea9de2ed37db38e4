"""Release: a match gets its position in one sequence as it is shown to its owner.

stored ─ card made, shown_at reached ─> released: sequence = 1, 2, 3 … ─> destinations, feeds

Positions are given under the counter's lock, so that whoever has read up to one has read all that
will ever stand before it: a position is a log offset, and can be a consumer cursor.  A message that
leaves a live filter is released again, as a retraction, and so is one that comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.inbox.models import Match, is_due
from filters.runs.models import ReleaseCounter, SetAside
from filters.runs.store import schedule
from filters.site.work import set_aside
from filters.site.work.db.batching import in_batches
from filters.site.work.db.bulk import update_rows
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.core.files.site_lock import is_site_lock_held, site_lock
from tapestry.core.log import event
from tapestry.core.surroundings import is_of_surroundings
from tapestry.run.limits.isolation import isolate

FILTER, PART = SetAside.Kind.FILTER, "release"
"""What is set aside is the release of a filter; it finds matches nonetheless."""

AT_ONCE = 20_000
"""Matches that are released in one transaction."""

PATIENCE = 2.0
"""Seconds that a call waits for another one; after a crowd is released, the clock calls again."""


def release() -> int:
    """Give every match whose time has come its position; return how many there were.

    The destinations that they concern are due then.  Idempotent: what an interrupted call has not
    released is released by the next one.  If another call is under way, this one waits for its
    end, and looks at what has come since.  A filter that raises an error is set aside.
    """
    with _releasing() as acquired:
        if not acquired:
            return 0
        aside = set_aside.of(FILTER)
        left_out = aside.waiting_for(PART)
        _, unplanned = isolate(
            lambda some: [schedule.plan_all_of(some)], sorted(schedule.holding() - left_out)
        )
        left_out.update(filter_id for filter_id, _ in unplanned)
        released, unreleased = _release_all(left_out)
        failed = {f"{filter_id}/{PART}": error for filter_id, error in unplanned + unreleased}
        for key, error in failed.items():
            set_aside.add(FILTER, key, error)
        tried = {key for key in aside.numbers if key.endswith(f"/{PART}")} - aside.waiting
        set_aside.clear(FILTER, tried - failed.keys())
        if released:
            event("release", matches=released)
        return released


def begin_anew() -> None:
    """Give positions from now on that no match can have had: after a backup was restored.

    A delivery is known to its receivers by the positions of its range, as a webhook by its id: what
    they have had under one is not taken for what comes under it now.
    """
    with transaction.atomic():
        counter = ReleaseCounter.lock()
        counter.last = max(counter.last, wall_clock())
        counter.save(update_fields=["last"])


def why_not(filter_: Filter) -> str:
    """Return why what a filter finds is not shown for now, for its owner; "" if it is."""
    return set_aside.reason_of(FILTER, f"{filter_.pk}/{PART}")


def is_late(instant: int) -> bool:
    """Tell whether a match has waited for its release since before an instant."""
    waiting = Match.objects.filter(sequence=None, card__isnull=False)
    waiting = waiting.exclude(filter__in=set_aside.of(FILTER).waiting_for(PART))
    return waiting.filter(
        Q(retracted_at=None) | Q(retracted_at__lt=instant),
        shown_at__lt=instant,
        matched_at__lt=instant,
        refreshed_at__lt=instant,
    ).exists()


def is_releasing() -> bool:
    """Tell whether a call of ``release`` is under way: destinations wait for its end.

    So what was released at one time is delivered together.
    """
    return is_site_lock_held(services.data() / "run" / "release.lock")


@contextmanager
def _releasing() -> Iterator[bool]:
    with site_lock(services.data() / "run" / "release.lock", wait=PATIENCE) as acquired:
        yield acquired


def _release_all(left_out: Collection[int]) -> tuple[int, list[tuple[int, Exception]]]:
    """Release what is due, but of these filters; return how many, and the filters that raise.

    All filters at once, so that positions are in the order of time; where that raises an error,
    halves of them.
    """
    released = 0
    try:
        while count := _release_some(_due().exclude(filter__in=left_out)):
            released += count
        return released, []
    except Exception as error:
        if is_of_surroundings(error):
            raise
    filters = _due().exclude(filter__in=left_out).order_by("filter").values_list("filter")
    counts, failures = isolate(_release_of, [key for (key,) in filters.distinct()])
    return released + sum(counts), failures


def _release_of(filter_ids: Sequence[int]) -> list[int]:
    """Release what is due of some filters; return how many at a time."""
    counts = []
    for filters in in_batches(Filter.objects.order_by(), filter_ids):
        while count := _release_some(_due().filter(filter__in=filters)):
            counts.append(count)
    return counts


def _due() -> QuerySet[Match]:
    return Match.objects.filter(is_due(), sequence=None, card__isnull=False)


def _release_some(waiting: QuerySet[Match]) -> int:
    if not waiting.exists():
        return 0
    now = wall_clock()
    with transaction.atomic():
        counter = ReleaseCounter.lock()
        # Locked, so that no window changes a match between the look at it and its release.
        ordered = waiting.select_for_update(skip_locked=True)
        ordered = ordered.order_by("shown_at", "matched_at", "pk")
        rows = list(ordered.values_list("pk", "filter_id")[:AT_ONCE])
        first = counter.last + 1
        update_rows(
            Match, ("sequence",), ((position, pk) for position, (pk, _) in enumerate(rows, first))
        )
        counter.last += len(rows)
        counter.save(update_fields=["last"])
        _make_due({filter_id for _, filter_id in rows}, counter.last, now)
    return len(rows)


def _make_due(filter_ids: Collection[int], latest: int, now: int) -> None:
    """Have the destinations of filters be due, unless they are to be tried again later."""
    destinations = Destination.objects.order_by()
    keys: set[int] = set()
    for filters in in_batches(Filter.objects.order_by(), filter_ids):
        chosen = destinations.filter(subscriptions__filter__in=filters)
        of_all = destinations.filter(all_filters=True, owner__filters__in=filters)
        keys.update(chosen.values_list("pk", flat=True), of_all.values_list("pk", flat=True))
    for rows in in_batches(destinations, keys):
        rows.update(latest=latest, due_at=Coalesce(F("due_at"), Value(now)))
