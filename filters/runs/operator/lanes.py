"""How far the lanes and the filters have come, and which filters have stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Min, QuerySet

from filters.authoring.models import Filter
from filters.runs.models import Heartbeat, SharedWindow
from filters.runs.operator.reasons import public_reason
from filters.runs.store import shared_window
from tapestry.core.clock import BEGINNING, MINUTE, wall_clock

SHOWN = 20
"""Rows of each table of the page, however many there are."""

LATE = MINUTE
"""Microseconds behind the clock from which on something is shown as late."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Up to which instant something is complete (None: nothing yet), and how far behind that is."""

    until: int | None
    lag: int

    @property
    def is_late(self) -> bool:
        return self.until is None or self.lag > LATE


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane of the workers: its filters, how far they all have come, and how its last run went.

    ``filters`` is how many it runs now.  ``ran_at`` is None if it has never run.
    """

    name: str
    filters: int
    progress: Progress
    ran_at: int | None
    is_running: bool
    reason: str


@dataclass(frozen=True, slots=True)
class FilterState:
    """A filter by its owner and name: how far it has come, and why it has stopped, if it has."""

    owner: str
    name: str
    progress: Progress
    is_new: bool
    reason: str


def filter_counts() -> dict[str, int]:
    """Return how many filters there are, and how many of them are paused or have failed."""
    paused = Filter.objects.filter(active=False)
    return {"total": Filter.objects.count(), "paused": paused.count(), "failed": _failed().count()}


def lanes(counts: Mapping[str, int]) -> list[Lane]:
    """Return the three lanes; their counts leave out filters that have failed.

    Of the parts of the shared window one is shown that failed, or that ran longest ago.
    """
    now = wall_clock()
    since = SharedWindow.first_since()
    parts = {Heartbeat.of_part(part) for part in shared_window.parts()}
    beats = Heartbeat.objects.in_bulk([*parts, Heartbeat.OWN, Heartbeat.UNPROVEN])
    together = [beats[key] for key in sorted(parts & beats.keys())]
    if together:
        beats[Heartbeat.SHARED] = min(together, key=lambda beat: (not beat.error, beat.ended_at))
    own, new = (_own_windows().filter(proven=proven) for proven in (True, False))
    own_count, new_count = own.count(), new.count()
    failed_and_running = _failed().filter(active=True, enrolled=False).count()
    shared_count = counts["total"] - counts["paused"] - own_count - new_count - failed_and_running
    rows = (
        ("Filters that run together", Heartbeat.SHARED, shared_count, since),
        ("Filters that run by themselves", Heartbeat.OWN, own_count, _first(own, since)),
        ("New and changed filters", Heartbeat.UNPROVEN, new_count, _first(new, since)),
    )
    return [
        _lane(name, count, _progress(until, now), beats.get(key))
        for name, key, count, until in rows
    ]


def slowest_filters() -> Sequence[FilterState]:
    """Return the filters with windows of their own that are furthest behind."""
    return _states(_own_windows().order_by("since")[:SHOWN])


def failed_filters() -> Sequence[FilterState]:
    """Return the filters that have failed, those that came furthest first."""
    return _states(_failed().order_by("-since")[:SHOWN])


def _own_windows() -> QuerySet[Filter]:
    return Filter.objects.filter(active=True, enrolled=False, error="")


def _failed() -> QuerySet[Filter]:
    return Filter.objects.exclude(error="")


def _first(filters: QuerySet[Filter], otherwise: int | None) -> int | None:
    """Return where the filter that is furthest behind has come; without any, ``otherwise``."""
    first: int | None = filters.aggregate(first=Min("since"))["first"]
    return otherwise if first is None else first


def _progress(until: int | None, now: int) -> Progress:
    if until is None or until <= BEGINNING:
        return Progress(None, 0)
    return Progress(until, max(0, now - until))


def _lane(name: str, count: int, progress: Progress, beat: Heartbeat | None) -> Lane:
    if beat is None:
        return Lane(name, count, progress, None, False, "")
    is_running = beat.started_at > beat.ended_at
    return Lane(name, count, progress, beat.ended_at or None, is_running, public_reason(beat.error))


def _states(filters: QuerySet[Filter]) -> Sequence[FilterState]:
    now = wall_clock()
    fields = ("owner__username", "name", "since", "proven", "error")
    return [
        FilterState(owner, name, _progress(since, now), not proven, public_reason(error))
        for owner, name, since, proven, error in filters.values_list(*fields)
    ]
