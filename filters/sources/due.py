"""Which sources are due, and having them pulled soon."""

from __future__ import annotations

from filters.models_source import Source
from tapestry.core.clock import wall_clock


def due(limit: int = 100) -> list[int]:
    """Return the sources that are due, those that have waited longest first."""
    waiting = Source.objects.filter(active=True, owner__is_active=True, due_at__lte=wall_clock())
    return list(waiting.order_by("due_at").values_list("pk", flat=True)[:limit])


def make_due(source_id: int) -> None:
    """Let a source be due at once, unless it is paused."""
    Source.objects.filter(pk=source_id, active=True).update(due_at=0)
