"""What a change of one filter means for those that refer to it.

A filter runs as it was last understood (``Filter.tql``).  When something it leans on changes,
it is read again, in the transaction of that change: from that instant on it means the new,
and what its older text still has to run is left as a ``PendingWindow``, for the next run.  A
live filter begins again instead: what matters of it is what it holds now.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q, QuerySet

from filters.accounts import people
from filters.authoring.understanding import FilterName, track_references, understand
from filters.models import Filter, PendingWindow, Reference, SharedWindow
from filters.runtime import services
from filters.store.filter_store import DjangoClock, latest_instant
from filters.store.shared_window import detach
from tapestry.core.errors import TapestryError
from tapestry.tables.append import advance_watermark


def present() -> int:
    """Return the present as the clock's lock tells it: all that comes is later."""
    return advance_watermark(services.tables(), DjangoClock())


def recompile_dependents(changed: Iterable[FilterName], at: int | None) -> None:
    """Read again, as of the instant ``at``, all filters that refer to one of these.

    None is the present as it is known without the clock's lock: for a filter that came to
    refer to one only since its caller looked (``has_dependents``).
    """
    _renew(Q(pk__in=_references(changed).values("filter")), at)


def has_dependents(name: FilterName) -> bool:
    """Tell whether some filter refers to one of this name, be there one or not."""
    return _references([name]).exists()


def _references(names: Iterable[FilterName]) -> QuerySet[Reference]:
    wanted = Q(pk__in=[])
    for owner, name in names:
        wanted |= Q(owner=owner.lower(), name=name.lower())
    return Reference.objects.filter(wanted)


def recompile_all_of(username: str, at: int | None) -> None:
    """Read again all filters of a person, and all that refer to one: who is `me` has changed.

    None is the present, as for ``recompile_dependents``.
    """
    referring = Reference.objects.filter(owner=username.lower()).values("filter")
    _renew(Q(owner__username=username) | Q(pk__in=referring), at)


def recompile(held: Filter, at: int) -> None:
    """Read a filter again; where it means something else now, it does so from ``at`` on.

    It stands apart, which its caller saw to before reading it (filters.store.shared_window).
    One that cannot be read means nothing (its TQL is empty) until it can be again.
    """
    context, sought = track_references(people.context(held.owner, held.name))
    tql = error = ""
    phrase, display_tql = held.phrase, held.display_tql
    try:
        understood = understand(held.text, context)
        tql, phrase, display_tql = understood.tql, understood.phrase or "", understood.display_tql
    except TapestryError as failure:
        error = failure.message
    if tql != held.tql:
        if held.is_live:
            held.begin(held.start)
        else:
            leave_pending_window(held, at)
            held.begin(max(held.since, at))
        held.tql = tql
    held.phrase, held.display_tql = phrase, display_tql
    held.error = error
    held.revision += 1
    held.save()
    store_references(held, sought)


def leave_pending_window(held: Filter, at: int) -> None:
    """Keep what a filter that is about to change has not been run over, up to ``at``."""
    if held.tql and held.since < at:
        PendingWindow.objects.create(
            filter=held,
            tql=held.tql,
            start=held.start,
            since=held.since,
            until=at,
            explanation=held.explanation,
            error=held.error,
        )


def store_references(held: Filter, sought: Iterable[FilterName]) -> None:
    """Store which filters this one refers to; a name that no filter can have is left out."""
    wanted = {(owner[:150], name) for owner, name in sought if len(name) <= 60}
    for old in held.references.all():
        if (old.owner, old.name) not in wanted:
            old.delete()
    Reference.objects.bulk_create(
        (Reference(filter=held, owner=owner, name=name) for owner, name in sorted(wanted)),
        ignore_conflicts=True,
    )


@transaction.atomic
def _renew(which: Q, at: int | None) -> None:
    SharedWindow.lock()
    found = list(Filter.objects.filter(which).values_list("pk", flat=True))
    if not found:
        return
    detach(Filter.objects.filter(pk__in=found))
    instant = latest_instant() if at is None else at
    for dependent in Filter.objects.select_for_update().filter(pk__in=found).order_by("pk"):
        recompile(dependent, instant)
