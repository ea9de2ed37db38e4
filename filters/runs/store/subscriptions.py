"""Subscriptions: which filters go to which destinations, from which position in the sequence on.

A filter that is added to a destination is delivered from then on: what was released before is
not.  A filter that is removed delivers nothing more, not even what waits.  A change is made under
the lock of ReleaseCounter, so that no match is released meanwhile.  The filters are locked before
it, as where one is changed, and the destinations after it: one that was deleted since it was chosen
is left out.  A range that is claimed stays as it is, and the cursor of a destination never goes
back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import BigIntegerField, Case, F, Q, QuerySet, Value, When

from filters.authoring.models import Filter
from filters.delivery.models import Destination, Subscription
from filters.runs.models import ReleaseCounter
from filters.site.work.queues.queue import DELIVER_DUE, run_soon
from tapestry.core.clock import wall_clock


@transaction.atomic
def add_destination(destination: Destination, filters: Collection[Filter] | None) -> None:
    """Store a new destination of these filters, None for all: it takes what comes from now on."""
    keys = _lock(filters or ())
    position = ReleaseCounter.lock().last
    destination.cursor = destination.latest = destination.all_since = position
    destination.all_filters = filters is None
    destination.save()
    _subscribe(((destination.pk, key) for key in keys), position)


@transaction.atomic
def choose_filters(destination: Destination, filters: Collection[Filter] | None) -> None:
    """Have a destination take these filters, None for all of its owner's, those to come too.

    A filter that it took before is taken from where it was: what waits is still delivered.
    """
    keys = _lock(filters or ())
    position = ReleaseCounter.lock().last
    rows = Destination.objects.filter(pk=destination.pk)
    locked = rows.select_for_update(no_key=True)
    taken = locked.values_list("all_filters", "all_since").first()
    if taken is None:  # it was deleted meanwhile
        return
    all_before, all_since = taken
    _skip_what_does_not_concern(rows, position)
    if filters is not None:
        Subscription.objects.filter(destination__in=rows).exclude(filter__in=keys).delete()
        since = all_since if all_before else position
        _subscribe(((destination.pk, key) for key in keys), since)
        rows.update(all_filters=False)
    elif not all_before:
        rows.update(all_filters=True, all_since=position)
    destination.refresh_from_db()


@transaction.atomic
def choose_destinations(
    filter_: Filter,
    destinations: Collection[Destination],
    shown: Collection[str] | None = None,
) -> None:
    """Send a filter to these destinations of its owner, besides those that take all filters.

    ``shown`` are the primary keys of those to which it went when these were chosen: what differs
    is added and removed, and the others stay as they are.  None is those to which it goes now.
    """
    if not _lock([filter_]):
        return
    position = ReleaseCounter.lock().last
    of_owner = Destination.objects.filter(owner=filter_.owner_id, all_filters=False)
    subscribed = Subscription.objects.filter(filter=filter_, destination__in=of_owner)
    before = set(subscribed.values_list("destination", flat=True))
    then = before if shown is None else {key for key in before if str(key) in shown}
    chosen = {destination.pk for destination in destinations}
    subscribed.filter(destination__in=then - chosen).delete()
    added = of_owner.filter(pk__in=[key for key in chosen if str(key) not in (shown or ())])
    locked = added.select_for_update(no_key=True).order_by("pk")
    keys = list(locked.values_list("pk", flat=True))
    _skip_what_does_not_concern(added, position)
    _subscribe(((key, filter_.pk) for key in keys), position)


def turn_on(destination: Destination) -> None:
    """Deliver to a destination again, beginning at once with what waits."""
    waits = Q(latest__gt=F("cursor")) | Q(claimed_until__isnull=False)
    Destination.objects.filter(pk=destination.pk).update(
        active=True,
        turned_on_at=wall_clock(),
        failures=0,
        failing_since=None,
        error="",
        due_at=Case(
            When(waits, then=Value(wall_clock(), output_field=BigIntegerField())),
            default=F("due_at"),
        ),
    )
    transaction.on_commit(lambda: run_soon(DELIVER_DUE))


def _lock(filters: Collection[Filter]) -> set[int]:
    """Lock filters; return the keys of those that have not been deleted."""
    rows = Filter.objects.filter(pk__in=[filter_.pk for filter_ in filters])
    locked = rows.select_for_update(no_key=True).order_by("pk")
    return set(locked.values_list("pk", flat=True))


def _subscribe(pairs: Iterable[tuple[int, int]], position: int) -> None:
    """Store subscriptions, pairs of a destination and a filter; those there are stay."""
    Subscription.objects.bulk_create(
        (Subscription(destination_id=key, filter_id=of, since=position) for key, of in pairs),
        ignore_conflicts=True,
    )


def _skip_what_does_not_concern(destinations: QuerySet[Destination], position: int) -> None:
    """Move the cursors of destinations for which nothing waits to a position.

    So the next range begins there.
    """
    idle = destinations.filter(holder="", claimed_until=None, latest__lte=F("cursor"))
    idle.update(cursor=position, latest=position)
