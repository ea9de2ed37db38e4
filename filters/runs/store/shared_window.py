"""The shared window: most filters run together, and have the watermark of their part of it.

    own window ─ enroll ─> enrolled: the window ends at SharedWindow.since of the filter's part
               <─ detach ─ from there the filter has its own ``since`` again

A transaction first takes the lock of its row if it moves a part, and those of all rows if it
enrolls filters, or changes what an enrolled one means, what it may see or whether it runs.  So a
window is stored for the filters that are as they were when it was run; the window of each other
begins where it began.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from filters.authoring.models import Filter, PendingWindow
from filters.runs.models import SharedWindow
from filters.runs.store import expiry
from filters.site.work.db.batching import by_key, in_batches
from tapestry.core.clock import BEGINNING
from tapestry.core.ports import DueFilter


def stored_window(part: int = 0) -> SharedWindow:
    return SharedWindow.objects.filter(pk=1 + part).first() or SharedWindow(pk=1 + part)


def parts() -> list[int]:
    """Return the parts that are run: those of the setting, and others that still have filters."""
    others = SharedWindow.objects.filter(pk__gt=settings.WINDOW_PARTS).order_by("pk")
    return [*range(settings.WINDOW_PARTS), *(pk - 1 for pk in others.values_list("pk", flat=True))]


@transaction.atomic
def end_part(part: int) -> bool:
    """Delete a part beyond those of the setting if it has no filters; return whether it was."""
    if part < settings.WINDOW_PARTS:
        return False
    SharedWindow.lock_all()
    if Filter.objects.filter(enrolled=True, part=part).exists():
        return False
    SharedWindow.objects.filter(pk=1 + part).delete()
    return True


@transaction.atomic
def detach(filters: QuerySet[Filter]) -> None:
    """Give filters their own windows again, from where the shared one ends.

    A transaction that changes filters calls it first, before it reads or locks them: then
    ``since`` is their own, and no shared window that is under way is stored for them.  Their new
    revision makes their entries in the predicate index stale.
    """
    windows = SharedWindow.lock_all()
    for window in windows:
        if window.since is not None:
            of_part = {"part": window.part} if len(windows) > 1 else {}
            filters.filter(enrolled=True, **of_part).update(
                enrolled=False, since=window.since, ran_at=window.ran_at, revision=F("revision") + 1
            )


@transaction.atomic
def run_again(filters: QuerySet[Filter]) -> None:
    """Detach filters, and give them a new revision: no run that is under way is stored."""
    detach(filters)
    filters.update(revision=F("revision") + 1)


@transaction.atomic
def begin_again(filters: QuerySet[Filter]) -> None:
    """Let filters begin again, except those that have ended: they may find other mail now."""
    run_again(filters)
    since = Coalesce(F("start"), BEGINNING)
    anew = filters.exclude(expiry.has_ended())
    clock = Coalesce(F("start_clock"), since)
    anew.update(since=since, clock=clock, waits_from=None, proven=False)


def show_position(filters: Iterable[Filter]) -> None:
    """Set the watermark and the last run of enrolled filters in memory, for pages."""
    enrolled = [filter_ for filter_ in filters if filter_.enrolled]
    windows = {window.part: window for window in SharedWindow.objects.all()} if enrolled else {}
    for filter_ in enrolled:
        window = windows.get(filter_.part, SharedWindow())
        filter_.since = filter_.since if window.since is None else window.since
        filter_.ran_at = window.ran_at


@transaction.atomic
def enroll(filters: Iterable[DueFilter], until: int, part: int = 0) -> None:
    """Let filters that were run to ``until`` share a part of the window, if it ends there too.

    Changed, live, paused and failed filters, and those with a pending window, keep their own.
    """
    if all((window.part, window.since) != (part, until) for window in SharedWindow.lock_all()):
        return
    by_revision: dict[int, list[int]] = defaultdict(list)
    for due_filter in filters:
        by_revision[due_filter.revision].append(due_filter.filter_id)
    eligible = Filter.objects.filter(
        ~Exists(PendingWindow.objects.filter(filter=OuterRef("pk"))),
        since=until,
        active=True,
        owner__is_active=True,
        mode=Filter.Mode.KEEP,
        error="",
    )
    for revision, filter_ids in sorted(by_revision.items()):
        for rows in in_batches(eligible.filter(revision=revision), filter_ids):
            rows.update(enrolled=True, part=part)
    SharedWindow.objects.filter(pk=1 + part).update(enrollments=F("enrollments") + 1)


def running(part: int) -> QuerySet[Filter]:
    """Return the filters that a part of the window is run for."""
    return Filter.objects.filter(active=True, enrolled=True, part=part)


def unchanged(filters: Sequence[DueFilter], part: int) -> set[int]:
    """Lock filters, and return those that are still in a part, and of the revision given."""
    revisions = {due_filter.filter_id: due_filter.revision for due_filter in filters}
    found = by_key(running(part).select_for_update(), revisions, "revision")
    return {key for key, revision in found.items() if revision == revisions[key]}
