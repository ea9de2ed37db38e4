"""Recompile the filters that refer to a filter that changes.

A filter runs as it was last compiled (``Filter.tql``).  When a filter that it refers to changes,
it is compiled again in the transaction of that change: from that instant on it has the new
meaning, and what its older text still has to run is left as a ``PendingWindow`` for the next
run.  A live filter begins again instead: only its present answer matters.  If it has ended, it
does so once it is set going again: its list is that of its end.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q, QuerySet

from filters.accounts import people
from filters.authoring.understanding import FilterName, track_references, understand
from filters.models import Clock, Filter, PendingWindow, Reference, SetAside, SharedWindow
from filters.runtime import services, set_aside
from filters.store.filter_store import DjangoClock
from filters.store.shared_window import detach
from tapestry.core.errors import TapestryError
from tapestry.core.surroundings import is_of_surroundings
from tapestry.tables.append import advance_watermark

FILTER, PART = SetAside.Kind.FILTER, "meaning"
"""What is set aside is what a filter means, now that another has changed."""


def present() -> int:
    """Advance the clock to the present and return it: all that comes is stamped later."""
    return advance_watermark(services.tables(), DjangoClock())


def recompile_dependents(changed: Iterable[FilterName], at: int | None) -> None:
    """Recompile, as of the instant ``at``, all filters that refer to any of these.

    None is the present as it is known without the clock's lock: for a filter that came to
    refer to these only since the caller looked (``has_dependents``).
    """
    _recompile(Q(pk__in=_references(changed).values("filter")), at)


def has_dependents(name: FilterName) -> bool:
    """Tell whether any filter refers to this name, whether or not a filter has it."""
    return _references([name]).exists()


def _references(names: Iterable[FilterName]) -> QuerySet[Reference]:
    wanted = Q(pk__in=[])
    for owner, name in names:
        wanted |= Q(owner=owner.lower(), name=name.lower())
    return Reference.objects.filter(wanted)


def recompile_all_of(username: str, at: int | None, *, changed_only: bool = False) -> None:
    """Recompile all filters of a person, and all that refer to them: who is `me` has changed.

    ``at`` is as in ``recompile_dependents``.  ``changed_only`` leaves alone, and enrolled, those
    that mean what they meant.
    """
    referring = Reference.objects.filter(owner=username.lower()).values("filter")
    _recompile(Q(owner__username=username) | Q(pk__in=referring), at, changed_only=changed_only)


def recompile(filter_: Filter, at: int) -> None:
    """Compile a filter again; if its meaning has changed, the new one holds from ``at`` on.

    The caller has detached it from the shared window before reading it.  A filter that cannot be
    compiled matches nothing (its TQL is empty) until it can be.
    """
    context, references = track_references(people.context(filter_.owner, filter_.name))
    tql = error = ""
    phrase, display_tql = filter_.phrase, filter_.display_tql
    try:
        understood = understand(filter_.text, context)
        tql, phrase, display_tql = understood.tql, understood.phrase or "", understood.display_tql
    except TapestryError as failure:
        error = failure.message
    _mean(filter_, tql, error, at)
    filter_.phrase, filter_.display_tql = phrase, display_tql
    filter_.save()
    store_references(filter_, references)


def _mean(filter_: Filter, tql: str, error: str, at: int) -> None:
    """Have a filter mean something else from ``at`` on, or nothing, for an error.

    A live filter that has ended stays what it was at its end until it is set going again.
    """
    if tql != filter_.tql and not (filter_.is_live and filter_.has_ended):
        if filter_.is_live:
            filter_.begin(filter_.start)
        else:
            leave_pending_window(filter_, at)
            filter_.begin(max(filter_.since, at))
        filter_.tql = tql
    filter_.error = error
    filter_.revision += 1


def leave_pending_window(filter_: Filter, at: int) -> None:
    """Store the window over which a filter that is about to change has not been run.

    Of a filter that is set aside it is tried at once, and then set aside by itself.
    """
    if filter_.tql and filter_.since < at:
        is_aside = set_aside.reason_of(SetAside.Kind.FILTER, filter_.pk)
        PendingWindow.objects.create(
            filter=filter_,
            tql=filter_.tql,
            start=filter_.start,
            since=filter_.since,
            until=at,
            explanation=filter_.explanation,
            error="" if is_aside else filter_.error,
        )


def store_references(filter_: Filter, references: Iterable[FilterName]) -> None:
    """Store which filters this one refers to; a name that no filter can have is left out."""
    wanted = {(owner[:150], name) for owner, name in references if len(name) <= 60}
    for stored in filter_.references.all():
        if (stored.owner, stored.name) not in wanted:
            stored.delete()
    Reference.objects.bulk_create(
        (Reference(filter=filter_, owner=owner, name=name) for owner, name in sorted(wanted)),
        ignore_conflicts=True,
    )


@transaction.atomic
def _recompile(which: Q, at: int | None, *, changed_only: bool = False) -> None:
    SharedWindow.lock()
    filters = Filter.objects.filter(which).select_related("owner")
    if changed_only:
        keys = [filter_.pk for filter_ in filters if _means_something_else(filter_)]
    else:
        keys = list(filters.values_list("pk", flat=True))
    if not keys:
        return
    detach(Filter.objects.filter(pk__in=keys))
    at = Clock.instant() if at is None else at  # all that comes has a later one
    for dependent in Filter.objects.select_for_update().filter(pk__in=keys).order_by("pk"):
        try:
            with transaction.atomic():
                recompile(dependent, at)
        except Exception as error:
            aside = set_aside.record(FILTER, f"{dependent.pk}/{PART}", error)
            dependent.refresh_from_db()
            _mean(dependent, "", aside.reason, at)
            dependent.save()


def recompile_aside() -> None:
    """Compile the filters again that raised an error, as of the instant at which they did.

    Until then they match nothing: no change of what others refer to waits for them.
    """
    aside = set_aside.of(FILTER)
    for key in sorted(aside.numbers_of(PART) - aside.waiting_for(PART)):
        with aside.guard(f"{key}/{PART}"):
            _recompile_again(key)


@transaction.atomic
def _recompile_again(key: int) -> None:
    SharedWindow.lock()
    detach(Filter.objects.filter(pk=key))
    for filter_ in Filter.objects.select_for_update().filter(pk=key):
        recompile(filter_, filter_.since)


def _means_something_else(filter_: Filter) -> bool:
    """Return whether a filter, compiled again, is another query or none, or raises an error."""
    try:
        understood = understand(filter_.text, people.context(filter_.owner, filter_.name))
    except Exception as error:
        if is_of_surroundings(error):
            raise
        return True
    return understood.tql != filter_.tql
