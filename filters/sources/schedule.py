"""The schedule of sources: which are due, and one process at a time for each."""

from __future__ import annotations

from contextlib import AbstractContextManager

from django.db.models import F, Q

from filters.models import SetAside
from filters.models.source import Source
from filters.runtime import services, set_aside
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.file_lock import file_lock

LISTENING = "listening"
"""The part of a source's key under which the watch of its mailbox is set aside."""


def due(limit: int = 100) -> list[int]:
    """Return the keys of the sources that are due, those that have waited longest first.

    A working source that would wait longer than its interval is due too: the clock was set back.
    """
    set_aside.wake(SetAside.Kind.SOURCE, Source.objects.all())
    now = wall_clock()
    clock_set_back = Q(failures=0, due_at__gt=now + 2 * SECOND * F("every"))
    waiting = Source.objects.filter(Q(due_at__lte=now) | clock_set_back, active=True)
    waiting = waiting.filter(owner__is_active=True)
    return list(waiting.order_by("due_at").values_list("pk", flat=True)[:limit])


def make_due(source_id: int) -> None:
    """Let a source be due at once, unless it is paused.

    A pull that is under way sees that ``due_at`` was changed, and keeps the change.
    """
    Source.objects.filter(pk=source_id, active=True).update(due_at=wall_clock())


def source_lock(source: Source, action: str, wait: float = 0.0) -> AbstractContextManager[bool]:
    """Hold a source's lock on this machine; yield whether it was free within ``wait`` seconds."""
    return file_lock(services.data() / "run" / f"{action}-{source.pk}.lock", wait=wait)
