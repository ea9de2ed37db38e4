"""The joint run of most filters: one window of all that share it, and how a filter leaves it.

    apart ─ join ─> joined, its window ends at SharedWindow.since ─ part ─> apart, at its own since

Whatever moves the joint window, and whatever changes what a joined filter means, may see or
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
    """Return where the joint run stands, as stored by now."""
    return SharedWindow.objects.filter(pk=1).first() or SharedWindow(pk=1)


def lock() -> int | None:
    """Lock the joint run for the rest of the caller's transaction; return its since.

    Updating the row before reading it takes SQLite's write lock and PostgreSQL's lock on the
    row alike.
    """
    if not _touch():
        SharedWindow.objects.bulk_create([SharedWindow(pk=1)], ignore_conflicts=True)
        _touch()
    return SharedWindow.objects.values_list("since", flat=True).get(pk=1)


@transaction.atomic
def detach(which: QuerySet[Filter]) -> None:
    """Let filters leave the joint run where it stands; from there they run by themselves.

    Call it at the beginning of the transaction that changes them, before it reads or locks
    them: then ``since`` is their own again, and no joint window that is under way is stored.
    What the register says of them is of a past revision.
    """
    lock()
    at = stored_window()
    if at.since is not None:
        leaving = which.filter(enrolled=True)
        leaving.update(enrolled=False, since=at.since, ran_at=at.ran_at, revision=F("revision") + 1)


@transaction.atomic
def run_again(which: QuerySet[Filter]) -> None:
    """Let filters run apart, and let no run of one that has begun be stored, or join."""
    detach(which)
    which.update(revision=F("revision") + 1)


@transaction.atomic
def begin_again(which: QuerySet[Filter]) -> None:
    """Let filters that may find other mail than before begin again, but those that have ended."""
    run_again(which)
    ended = Q(active=False, end__isnull=False, since__gte=F("end"))
    which.exclude(ended).update(since=Coalesce(F("start"), BEGINNING))


def show_position(filters: Iterable[Filter]) -> None:
    """Let filters that were read say where they stand and when they last ran, if joined, too.

    For whoever shows them; nothing is stored.
    """
    joined = [each for each in filters if each.enrolled]
    at = stored_window() if joined else SharedWindow()
    for each in joined:
        each.since = each.since if at.since is None else at.since
        each.ran_at = at.ran_at


@transaction.atomic
def enroll(filters: Iterable[DueFilter], until: int) -> None:
    """Let filters that stand at ``until``, where the joint run stands too, share it from there.

    Those that were changed meanwhile, live, paused or failed ones, and those of whose older
    text a rest is left remain apart.
    """
    if lock() != until:
        return
    alike: dict[int, list[int]] = defaultdict(list)
    for each in filters:
        alike[each.revision].append(each.filter_id)
    able = Filter.objects.filter(
        ~Exists(PendingWindow.objects.filter(filter=OuterRef("pk"))),
        since=until,
        active=True,
        owner__is_active=True,
        mode=Filter.Mode.KEEP,
        error="",
    )
    for revision, ids in sorted(alike.items()):
        for batch in batched(sorted(ids)):
            able.filter(pk__in=batch, revision=revision).update(enrolled=True)


def unchanged(filters: Sequence[DueFilter]) -> bool:
    """Lock filters, and tell whether all are joined still, and as they were given.

    The caller holds the joint run.
    """
    known = {each.filter_id: each.revision for each in filters}
    for batch in batched(sorted(known)):
        same = Filter.objects.select_for_update().filter(pk__in=batch, enrolled=True, active=True)
        if dict(same.values_list("pk", "revision")) != {pk: known[pk] for pk in batch}:
            return False
    return True


def _touch() -> int:
    return SharedWindow.objects.filter(pk=1).update(since=F("since"))
