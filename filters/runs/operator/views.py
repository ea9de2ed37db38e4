"""The operator's page, and the part of it that reads the predicate index."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from filters.people.requests import PersonRequest, wants_fragment
from filters.runs.models import Alarm, SetAside
from filters.runs.operator import disk, groups, health, lanes, places, set_aside, work
from filters.runs.operator.access import staff_only

PARTS = {
    "shared_window": "Filters that run together",
    "own_windows": "Filters that run by themselves",
    "unproven_windows": "New and changed filters",
}
"""What parts are called on the page whose names are those of the machinery."""


@staff_only
def operator(request: HttpRequest) -> HttpResponse:
    """Show how the site is doing; htmx gets what changes alone."""
    counts = lanes.filter_counts()
    context: dict[str, Any] = {
        "parts": [
            {"name": PARTS.get(name) or name.replace("_", " ").capitalize(), **state}
            for name, state in health.states().items()
        ],
        "alarms": Alarm.objects.filter(ended_at=None)[: lanes.SHOWN],
        "counts": counts,
        "lanes": lanes.lanes(counts),
        "slowest": lanes.slowest_filters(),
        "failed": lanes.failed_filters() if counts["failed"] else (),
        "source_counts": places.source_counts(),
        "sources": places.sources(),
        "destination_counts": places.destination_counts(),
        "destinations": places.failing_destinations(),
        "set_aside_count": SetAside.objects.count(),
        "faults": set_aside.faults(),
        "work": work.work(),
        "disk": disk.disk(),
        "most": lanes.SHOWN,
    }
    is_part = wants_fragment(cast(PersonRequest, request))
    page = "runs/_state.html" if is_part else "runs/operator.html"
    return render(request, page, context)


@staff_only
def evaluation_groups(request: HttpRequest) -> HttpResponse:
    """Show the evaluation groups; htmx gets them alone."""
    is_part = wants_fragment(cast(PersonRequest, request))
    page = "runs/_groups.html" if is_part else "runs/groups.html"
    return render(request, page, {"groups": groups.groups(), "most": lanes.SHOWN})
