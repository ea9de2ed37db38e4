"""What waits to be shown or sent is planned anew, once the clock was set back."""

from __future__ import annotations

from collections.abc import Sequence

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.inbox.models import Match, is_waiting
from filters.runs.models import Heartbeat, SetAside
from filters.runs.store import release, schedule
from filters.site.work import clock_step, set_aside
from filters.site.work.db.batching import in_batches
from tapestry.core.clock import wall_clock
from tapestry.run.limits.isolation import isolate


def look_at_clock() -> None:
    """Have deliveries that wait be due, and plan matches that wait, if the clock was set back."""
    clock_step.look(Heartbeat.DELIVERIES, _plan_anew)


def _plan_anew() -> None:
    now = wall_clock()
    Destination.objects.filter(holder="", due_at__gt=now).update(due_at=now)
    waiting = Match.objects.filter(is_waiting(), sequence=None)
    timed = waiting.exclude(shown_at=schedule.HELD).order_by()
    filter_ids = sorted(timed.values_list("filter", flat=True).distinct())
    _, failures = isolate(_replan, filter_ids)
    for filter_id, error in failures:
        set_aside.add(SetAside.Kind.FILTER, f"{filter_id}/{release.PART}", error)


def _replan(filter_ids: Sequence[int]) -> list[int]:
    return [schedule.replan(filters) for filters in in_batches(Filter.objects.all(), filter_ids)]
