"""The schedule of sources: which are due, and one process at a time for each account."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.parts import services
from filters.sources.models import Source
from tapestry.core.backoff import LONGEST
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.files.site_lock import site_lock

LISTENING = "listening"
"""The part of a source's key under which the watch of its mailbox is set aside."""


def due(limit: int = 100) -> list[int]:
    """Return the keys of the sources that are due, those that have waited longest first.

    Everybody's first comes before anybody's second: the many of one person hold up no others'.
    One that would wait longer than its interval, or after a failure than any does, is due too: the
    clock was set back.
    """
    set_aside.wake(SetAside.Kind.SOURCE, Source.objects.all())
    now = wall_clock()
    longest = 2 * SECOND * F("every")
    clock_set_back = Q(failures=0, due_at__gt=now + longest)
    clock_set_back |= Q(due_at__gt=now + longest + 2 * SECOND * LONGEST)
    waiting = Source.objects.filter(Q(due_at__lte=now) | clock_set_back, active=True)
    waiting = waiting.filter(owner__is_active=True)
    in_turn = waiting.order_by(rank_of_owner("due_at", "pk"), "due_at", "pk")
    return list(in_turn.values_list("pk", flat=True)[:limit])


def rank_of_owner(*order: str) -> Window:
    """Return the place of a source among those of its owner, in an order."""
    return Window(RowNumber(), partition_by="owner", order_by=order)


def make_due(source_id: int) -> None:
    """Let a source be due at once, unless it is paused.

    A pull that is under way sees that ``due_at`` was changed, and keeps the change.
    """
    Source.objects.filter(pk=source_id, active=True).update(due_at=wall_clock())


def account_lock(source: Source) -> AbstractContextManager[bool]:
    """Hold the lock of an account, for one audience; yield whether it was free.

    Two sources that read the same for the same share what is known of its folders.
    """
    named = f"{source.address}@{source.audience}".encode()
    digest = hashlib.sha256(named).hexdigest()[:16]
    return site_lock(services.data() / "run" / f"source-{digest}.lock")


def token_lock(source: Source, wait: float = 0.0) -> AbstractContextManager[bool]:
    """Hold the lock of a source's access token; yield whether it was free within some seconds."""
    return site_lock(services.data() / "run" / f"token-{source.pk}.lock", wait=wait)
