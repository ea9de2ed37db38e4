"""Which sources are due, and making one due."""

from __future__ import annotations

from filters.models_source import Source
from tapestry.core.clock import wall_clock


def due(limit: int = 100) -> list[int]:
    """Return the sources that are due, those that have waited longest first."""
    waiting = Source.objects.filter(active=True, owner__is_active=True, due_at__lte=wall_clock())
    return list(waiting.order_by("due_at").values_list("pk", flat=True)[:limit])


def make_due(source_id: int) -> None:
    """Let a source be due at once, unless it is paused.

    A pull that is under way sees that the instant is another, and leaves it as it is.
    """
    Source.objects.filter(pk=source_id, active=True).update(due_at=wall_clock())
