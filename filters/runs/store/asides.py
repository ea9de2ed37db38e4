"""Filters that are set aside, because a run of them raised an error that nobody foresaw.

    its own window ─ raises ─> FILTER: the window stays, and is due again later
                   └ only its first mail does ─> a pending window of that mail is set aside
    the shared one ─ raises ─> ENROLLED: it has its own window, and stays out for a while

A filter of which all is set aside has the sentence for its owner as its ``error``; a window of it
that is committed ends that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from django.db import transaction

from filters.authoring.models import Filter, PendingWindow
from filters.runs.models import SetAside, SharedWindow
from filters.runs.store import shared_window
from filters.site.work import set_aside
from filters.site.work.db.batching import in_batches
from filters.site.work.set_aside import Aside
from tapestry.core.clock import BEGINNING
from tapestry.core.ports import DueFilter

FILTER, ENROLLED, INDEX = SetAside.Kind.FILTER, SetAside.Kind.ENROLLED, SetAside.Kind.INDEX


MOST_LEFT = 20
"""Windows of one filter that are set aside for their mail alone."""


def key_of(filter_id: int, pending_window: int | None) -> str:
    """Return the key of a filter's window.

    >>> key_of(7, None), key_of(7, 3)
    ('7', '7/3')
    """
    return f"{filter_id}" if pending_window is None else f"{filter_id}/{pending_window}"


def to_be_tried(aside: Aside) -> tuple[list[int], list[int]]:
    """Return the filters, and the pending windows, that are set aside and due again."""
    due = [key for key in aside.numbers if not aside.waits(key)]
    windows = [int(window) for key in due if (window := key.partition("/")[2]).isdecimal()]
    return [int(key) for key in due if "/" not in key], windows


def add(failed: DueFilter, error: Exception) -> None:
    """Set a window of a filter aside, and tell its owner."""
    reason = set_aside.record(FILTER, key_of(failed.filter_id, failed.pending_window), error).reason
    if failed.pending_window is not None:
        PendingWindow.objects.filter(pk=failed.pending_window).update(error=reason)
        return
    with transaction.atomic():
        SharedWindow.lock_all()
        same = Filter.objects.filter(pk=failed.filter_id, revision=failed.revision)
        if same.exists():
            shared_window.detach(same)
            # The detached one has another revision.
            Filter.objects.filter(pk=failed.filter_id).update(error=reason, proven=False)


def has_left_most(failed: DueFilter) -> bool:
    """Tell whether so much of a filter's mail is set aside that the fault is rather its own."""
    windows = PendingWindow.objects.filter(filter=failed.filter_id).exclude(error="")
    return windows.count() >= MOST_LEFT


def leave(failed: DueFilter, until: int, error: Exception) -> None:
    """Set what a filter still has to run up to an instant aside, as a pending window."""
    key = failed.pending_window
    rows = (
        Filter.objects.filter(pk=failed.filter_id)
        if key is None
        else PendingWindow.objects.filter(pk=key)
    )
    window = PendingWindow.objects.create(
        filter_id=failed.filter_id,
        tql=failed.text,
        start=failed.start,
        since=failed.since,
        until=until,
        existing_until=failed.existing_until,
        explanation=failed.explanation,
        **rows.values("waits_from", "start_clock").get(),
        clock=BEGINNING if failed.completeness is None else failed.completeness.floor,
    )
    window.error = set_aside.record(FILTER, key_of(failed.filter_id, window.pk), error).reason
    window.save(update_fields=["error"])


def end(committed: Iterable[DueFilter]) -> None:
    """Let windows that were committed not be set aside any more."""
    keys = {key_of(due.filter_id, due.pending_window): due for due in committed}
    stored = SetAside.objects.filter(kind=FILTER).values_list("key", flat=True)
    over = [keys[key] for key in stored if key in keys]
    if not over:
        return
    Filter.objects.filter(
        pk__in=[due.filter_id for due in over if due.pending_window is None]
    ).update(error="")
    PendingWindow.objects.filter(
        pk__in=[due.pending_window for due in over if due.pending_window is not None]
    ).update(error="")
    set_aside.clear(FILTER, [key_of(due.filter_id, due.pending_window) for due in over])


def end_enrolled(committed: Iterable[DueFilter]) -> None:
    """Let filters that the shared window was committed with not be set aside any more."""
    set_aside.of(ENROLLED).done(due.filter_id for due in committed)


def forget(failed: DueFilter) -> None:
    """Forget that a filter was set aside: it is refused for good."""
    set_aside.clear(FILTER, [key_of(failed.filter_id, failed.pending_window)])


def expel(errors: Mapping[int, Exception]) -> None:
    """Detach filters with which the shared window failed; it is tried with them again later."""
    for filter_id, error in errors.items():
        set_aside.add(ENROLLED, filter_id, error)
    with transaction.atomic():
        for filters in in_batches(Filter.objects.all(), errors):
            shared_window.detach(filters)


def held_out(filter_ids: Collection[int]) -> set[int]:
    """Return those of the filters that may not be enrolled now."""
    aside = set_aside.of(ENROLLED)
    return {filter_id for filter_id in filter_ids if aside.waits(filter_id)}


def work_around(what: str, error: Exception) -> None:
    """Store that a part of the index failed; not more often than it would be tried again."""
    if not set_aside.of(INDEX).waits(what[:200]):
        set_aside.add(INDEX, what[:200], error)
