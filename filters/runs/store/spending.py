"""Seconds that filters take that run by themselves: who has used those of an hour runs hourly.

    run ─ charge ─> its owner's seconds of this hour ─ all used ─> each filter is due once an hour
                                                    └ next hour ─> each is due at every run again

Nobody is charged for what another's filters take, though they were run together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q, QuerySet

from filters.authoring.models import Filter
from filters.people.budgets import is_used_up, least_budget
from filters.people.models import User
from filters.site.work.db.batching import in_batches
from filters.site.work.db.bulk import update_rows
from tapestry.core.clock import HOUR, wall_clock
from tapestry.core.ports import DueFilter


def charge(filters: Sequence[DueFilter], seconds: float) -> None:
    """Add what a run of filters took to what their owners have used in this hour.

    Where all are of one owner, it also tells what each of them takes.  Where they are of several,
    an owner is charged what theirs took when they were run without others, and no more.
    """
    keys, hour = {due.filter_id for due in filters}, wall_clock() // HOUR
    found = in_batches(Filter.objects.order_by(), keys)
    rows = [row for batch in found for row in batch.values_list("pk", "owner", "seconds")]
    if len({owner for _, owner, _ in rows}) == 1:
        rows = [(pk, owner, seconds / len(rows)) for pk, owner, _ in rows]
        update_rows(Filter, ("seconds",), ((share, pk) for pk, _, share in rows))
    part = min(1.0, seconds / (sum(share for *_, share in rows) or 1.0))
    taken: dict[int, float] = defaultdict(float)
    for _, owner, share in rows:
        taken[owner] += share * part
    before = {
        row[0]: row
        for batch in in_batches(User.objects.order_by(), taken)
        for row in batch.values_list("pk", "evaluated_hour", "evaluated_seconds")
    }
    charged = (
        (hour, took + (before[owner][2] if before[owner][1] == hour else 0.0), owner)
        for owner, took in taken.items()
        if owner in before
    )
    update_rows(User, ("evaluated_hour", "evaluated_seconds"), charged)


def runs_hourly(filters: QuerySet[Filter]) -> Q:
    """Return the condition of those of some filters that are not due before the next hour.

    They were run in this one, and their owner has no seconds left.  Those that are about to join
    the shared window, where they take none, are due.
    """
    now = wall_clock()
    used = filters.filter(
        owner__evaluated_hour=now // HOUR, owner__evaluated_seconds__gte=least_budget("seconds")
    )
    owners = User.objects.filter(pk__in=used.values("owner")).prefetch_related("groups")
    over = [owner.pk for owner in owners if is_used_up(owner, "seconds")]
    joins = Q(proven=True, mode=Filter.Mode.KEEP)
    return Q(owner__in=over, since__gte=now // HOUR * HOUR) & ~joins
