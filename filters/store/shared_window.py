"""The shared window: one window of all enrolled filters, and how a filter enters and leaves it.

    own window ─ enroll ─> enrolled, its watermark is SharedWindow.since ─ detach ─> own window

Whatever moves the shared window, and whatever changes what an enrolled filter means, may see or
whether it runs, takes the lock of the one row first: so a window is stored for the filters as
they were when it was run, or not at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from filters.models import Filter, PendingWindow, SharedWindow
from filters.runtime.batching import batched
from tapestry.core.clock import BEGINNING
from tapestry.core.ports import DueFilter


def stored_window() -> SharedWindow:
    """Return the shared window as it is stored now."""
    return SharedWindow.objects.filter(pk=1).first() or SharedWindow(pk=1)


def lock() -> int | None:
    """Lock the shared window for the rest of the caller's transaction; return its since.

    Updating the row before reading it takes SQLite's write lock and PostgreSQL's lock on the
    row alike.
    """
    if not _touch():
        SharedWindow.objects.bulk_create([SharedWindow(pk=1)], ignore_conflicts=True)
        _touch()
    return SharedWindow.objects.values_list("since", flat=True).get(pk=1)


@transaction.atomic
def detach(which: QuerySet[Filter]) -> None:
    """Give filters windows of their own, which begin where the shared window stands.

    Call it at the beginning of the transaction that changes them, before it reads or locks
    them: then ``since`` is their own again, and no shared window that is under way is stored.
    Their entries in the predicate index are of a past revision then.
    """
    lock()
    at = stored_window()
    if at.since is not None:
        leaving = which.filter(enrolled=True)
        leaving.update(enrolled=False, since=at.since, ran_at=at.ran_at, revision=F("revision") + 1)


@transaction.atomic
def run_again(which: QuerySet[Filter]) -> None:
    """Detach filters, and let no run of theirs that is under way be stored, or enroll them."""
    detach(which)
    which.update(revision=F("revision") + 1)


@transaction.atomic
def begin_again(which: QuerySet[Filter]) -> None:
    """Let filters that may find other mail than before begin again, except those that ended."""
    run_again(which)
    ended = Q(active=False, end__isnull=False, since__gte=F("end"))
    which.exclude(ended).update(since=Coalesce(F("start"), BEGINNING))


def show_position(filters: Iterable[Filter]) -> None:
    """Set ``since`` and ``ran_at`` of filters that are enrolled to those of the shared window.

    For pages that show them; nothing is stored.
    """
    enrolled = [row for row in filters if row.enrolled]
    at = stored_window() if enrolled else SharedWindow()
    for row in enrolled:
        row.since = row.since if at.since is None else at.since
        row.ran_at = at.ran_at


@transaction.atomic
def enroll(filters: Iterable[DueFilter], until: int) -> None:
    """Enroll filters whose windows end at ``until``, if the shared window ends there too.

    Those that were changed meanwhile, live, paused or failed ones, and those with a pending
    window keep windows of their own.
    """
    if lock() != until:
        return
    by_revision: dict[int, list[int]] = defaultdict(list)
    for due_filter in filters:
        by_revision[due_filter.revision].append(due_filter.filter_id)
    able = Filter.objects.filter(
        ~Exists(PendingWindow.objects.filter(filter=OuterRef("pk"))),
        since=until,
        active=True,
        owner__is_active=True,
        mode=Filter.Mode.KEEP,
        error="",
    )
    for revision, filter_ids in sorted(by_revision.items()):
        for batch in batched(sorted(filter_ids)):
            able.filter(pk__in=batch, revision=revision).update(enrolled=True)


def unchanged(filters: Sequence[DueFilter]) -> bool:
    """Lock filters, and tell whether all are enrolled still, at the revision given.

    The caller has locked the shared window.
    """
    known = {due_filter.filter_id: due_filter.revision for due_filter in filters}
    for batch in batched(sorted(known)):
        same = Filter.objects.select_for_update().filter(pk__in=batch, enrolled=True, active=True)
        if dict(same.values_list("pk", "revision")) != {pk: known[pk] for pk in batch}:
            return False
    return True


def _touch() -> int:
    return SharedWindow.objects.filter(pk=1).update(since=F("since"))
