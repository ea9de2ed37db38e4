"""Expiry: what matches after the end of a filter is dropped; run to its end, a filter stops.

Mail before its end that was set aside is tried again all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta, tzinfo

from django.db.models import BigIntegerField, F, Q, QuerySet, Value
from django.db.models.functions import Greatest

from filters.authoring.models import Filter
from filters.site.work.db.batching import by_key
from tapestry.core.clock import to_instant, wall_clock
from tapestry.core.ports import Change, Match


def last_instant(day: date, zone: tzinfo) -> int:
    """Return the last instant of a day in a time zone.

    >>> from datetime import timezone
    >>> last_instant(date(1970, 1, 1), timezone.utc)
    86399999999
    """
    return to_instant(datetime.combine(day + timedelta(days=1), time(), zone)) - 1


def drop_expired(
    matches: Sequence[Match], changes: Sequence[Change]
) -> tuple[Sequence[Match], Sequence[Change]]:
    """Leave out what was found after the ends of filters, as these are stored now."""
    filter_ids = {match.filter_id for match in matches} | {change.filter_id for change in changes}
    ends = by_key(Filter.objects.filter(end__isnull=False), filter_ids, "end")
    if not ends:
        return matches, changes
    kept = [m for m in matches if m.filter_id not in ends or m.matched_at <= ends[m.filter_id]]
    return kept, [c for c in changes if c.filter_id not in ends or c.at <= ends[c.filter_id]]


def stop_ended(run: QuerySet[Filter], since: int, until: int) -> None:
    """Pause those of the filters, run from ``since`` to ``until``, that have reached their ends.

    Their watermarks are their ends then: given a later end, they go on from there.
    """
    reached = Greatest("end", Value(since), output_field=BigIntegerField())
    run.filter(end__lte=until).update(
        active=False, enrolled=False, since=reached, ran_at=wall_clock()
    )


def has_ended(path: str = "") -> Q:
    """Return the condition that a filter, by this path of relations, has stopped at its end."""
    stopped = Q(**{f"{path}active": False, f"{path}end__isnull": False})
    return stopped & Q(**{f"{path}since__gte": F(f"{path}end")})
