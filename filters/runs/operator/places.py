"""Where mail comes from and where matches go: how many work, and which of them fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum

from filters.delivery.models import Destination
from filters.runs.operator.lanes import SHOWN
from filters.runs.operator.reasons import public_reason
from filters.sources.models import OVERDUE, Source
from tapestry.core.clock import wall_clock


@dataclass(frozen=True, slots=True)
class SourceState:
    """A source by its owner, kind and host: what came from it, and why it fails, if it does."""

    owner: str
    kind: str
    host: str
    is_active: bool
    read: int
    added: int
    pulled_at: int | None
    failures: int
    reason: str


@dataclass(frozen=True, slots=True)
class DestinationState:
    """A destination that fails, by its owner and kind; turned off, nothing is tried any more."""

    owner: str
    kind: str
    is_active: bool
    failures: int
    failing_since: int | None
    next_try: int | None
    reason: str


def source_counts() -> dict[str, Any]:
    """Return how many sources there are, of each state; and when one was last pulled."""
    now = wall_clock()
    active = Q(active=True)
    return Source.objects.aggregate(
        total=Count("pk"),
        turned_on=Count("pk", filter=active),
        failing=Count("pk", filter=active & Q(failures__gt=0)),
        overdue=Count("pk", filter=active & Q(owner__is_active=True, due_at__lt=now - OVERDUE)),
        last_pull=Max("pulled_at"),
    )


def sources() -> Sequence[SourceState]:
    """Return the sources that fail most, then those that have not been pulled for longest."""
    shown: QuerySet[Source] = (
        Source.objects.select_related("owner")
        .annotate(read=Sum("folders__read"), added=Sum("folders__added"))
        .order_by("-active", "-failures", "pulled_at", "pk")
        .filter(pk__in=_first_sources())
    )
    return [
        SourceState(
            source.owner.get_username(),
            source.content,
            source.host,
            source.active,
            getattr(source, "read", None) or 0,
            getattr(source, "added", None) or 0,
            source.pulled_at,
            source.failures,
            public_reason(source.error),
        )
        for source in shown
    ]


def destination_counts() -> dict[str, Any]:
    """Return how many destinations there are, of each state."""
    active = Q(active=True)
    return Destination.objects.aggregate(
        total=Count("pk"),
        turned_on=Count("pk", filter=active),
        failing=Count("pk", filter=~Q(error="")),
        due=Count("pk", filter=active & Q(due_at__lte=wall_clock())),
    )


def failing_destinations() -> Sequence[DestinationState]:
    """Return the destinations whose last delivery failed, those that failed longest ago first."""
    failing = Destination.objects.exclude(error="").select_related("owner")
    return [
        DestinationState(
            destination.owner.get_username(),
            destination.get_kind_display(),
            destination.active,
            destination.failures,
            destination.failing_since,
            destination.due_at if destination.active else None,
            public_reason(destination.error),
        )
        for destination in failing.order_by("failing_since", "pk")[:SHOWN]
    ]


def _first_sources() -> list[int]:
    ordered = Source.objects.order_by("-active", "-failures", "pulled_at", "pk")
    return list(ordered.values_list("pk", flat=True)[:SHOWN])
