"""Recompile the filters that refer to a filter that changes.

A filter runs as it was last compiled (``Filter.tql``).  When a filter that it refers to changes, it
is compiled before that is stored (filters.authoring.compilation.ahead), and stored in the
transaction of the change: from that instant on it has the new meaning, and what its older text
still has to run is left as a ``PendingWindow`` for the next run.  A live filter begins again
instead: only its present answer matters.  If it has ended, it does so once it is set going again:
its list is that of its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from filters.authoring.compilation.ahead import (
    Ahead,
    Change,
    Outcome,
    compiled_now,
    references_to,
    referring_to,
)
from filters.authoring.compilation.understanding import FilterName
from filters.authoring.models import Filter, PendingWindow, Reference
from filters.runs.models import Clock, SetAside, SharedWindow
from filters.runs.store import waiting
from filters.runs.store.filter_store import DjangoClock
from filters.runs.store.shared_window import detach
from filters.site.work import set_aside
from filters.site.work.db.batching import BATCH_SIZE, by_key, in_batches
from filters.site.work.db.bulk import update_rows
from filters.site.work.parts import services
from tapestry.run.limits.isolation import isolate
from tapestry.tables.write.append import advance_watermark

FILTER, PART = SetAside.Kind.FILTER, "meaning"
"""What is set aside is what a filter means, now that another has changed."""

CHANGED = (
    *("tql", "phrase", "display_tql", "error", "revision"),
    *("start", "since", "begun_at", "existing_until", "proven"),
    *("waits_from", "clock", "start_clock"),
)
"""Fields of a filter that means something else."""


def present() -> int:
    """Advance the clock to the present and return it: all that comes is stamped later."""
    return advance_watermark(services.tables(), DjangoClock())


def recompile_dependents(
    changed: Iterable[FilterName], at: int | None, ahead: Ahead | None = None
) -> None:
    """Recompile, as of the instant ``at``, all filters that refer to any of these.

    None is the present as it is known without the clock's lock: for a filter that came to
    refer to these only since the caller looked (``has_dependents``).
    ``ahead``: the caller holds the lock, and had them compiled before.
    """
    _recompile(referring_to(changed), at, ahead)


def has_dependents(name: FilterName) -> bool:
    """Tell whether any filter refers to this name, whether or not a filter has it."""
    return references_to([name]).exists()


def filters_of(username: str) -> Q:
    """Return which filters are of a person, or refer to theirs."""
    referring = Reference.objects.filter(owner=username.lower()).values("filter")
    return Q(owner__username=username) | Q(pk__in=referring)


def recompile_all_of(
    username: str, at: int | None, *, changed_only: bool = False, ahead: Ahead | None = None
) -> None:
    """Recompile all filters of a person, and all that refer to them: who is `me` has changed.

    ``at`` and ``ahead`` are as in ``recompile_dependents``.  ``changed_only`` leaves alone, and
    enrolled, those that mean what they meant.
    """
    _recompile(filters_of(username), at, ahead, changed_only=changed_only)


def recompile(filter_: Filter, at: int) -> None:
    """Compile a filter again; if its meaning has changed, the new one holds from ``at`` on.

    The caller has detached it from the shared window before reading it.  A filter that cannot be
    compiled matches nothing (its TQL is empty) until it can be.
    """
    outcome = compiled_now(filter_)
    if outcome.unforeseen is not None:
        raise outcome.unforeseen
    if window := _apply(filter_, outcome, at):
        window.save()
    filter_.save()
    store_references(filter_, outcome.references)


def _apply(filter_: Filter, outcome: Outcome, at: int) -> PendingWindow | None:
    """Have a filter mean something else from ``at`` on, or nothing, for an error.

    Return the window that its older text has left, to be stored with it.  A live filter that has
    ended stays what it was at its end until it is set going again.
    """
    window = None
    if outcome.tql != filter_.tql and not (filter_.is_live and filter_.has_ended):
        if filter_.is_live:
            filter_.begin(filter_.start)
        else:
            window = window_left(filter_, at)
            waiting.begin_as_it_waits(filter_, max(filter_.since, at))
        filter_.tql = outcome.tql
    if outcome.phrase is not None and outcome.display_tql is not None:
        filter_.phrase, filter_.display_tql = outcome.phrase, outcome.display_tql
    filter_.error = outcome.error
    filter_.revision += 1
    return window


def leave_pending_window(filter_: Filter, at: int) -> None:
    """Store the window over which a filter that is about to change has not been run."""
    if window := window_left(filter_, at):
        window.save()


def window_left(filter_: Filter, at: int) -> PendingWindow | None:
    """Return the window over which a filter that is about to change has not been run, if any.

    Of a filter that is set aside it is tried at once, and then set aside by itself.
    """
    if filter_.tql and filter_.since < at:
        is_aside = filter_.error and set_aside.reason_of(SetAside.Kind.FILTER, filter_.pk)
        return PendingWindow(
            filter=filter_,
            tql=filter_.tql,
            start=filter_.start,
            since=filter_.since,
            until=at,
            existing_until=filter_.existing_until,
            waits_from=filter_.waits_from,
            clock=filter_.clock,
            start_clock=filter_.start_clock,
            explanation=filter_.explanation,
            error="" if is_aside else filter_.error,
        )
    return None


def store_references(filter_: Filter, references: Iterable[FilterName]) -> None:
    """Store which filters this one refers to; a name that no filter can have is left out."""
    _store_references({filter_.pk: references})


def _store_references(references: Mapping[int, Iterable[FilterName]]) -> None:
    wanted = {
        (key, owner[:150], name)
        for key, names in references.items()
        for owner, name in names
        if len(name) <= 60
    }
    stored: dict[tuple[int, str, str], int] = {}
    for filters in in_batches(Filter.objects.order_by(), references):
        rows = Reference.objects.filter(filter__in=filters.values("pk"))
        stored |= {row[1:]: row[0] for row in rows.values_list("pk", "filter", "owner", "name")}
    gone = [key for row, key in stored.items() if row not in wanted]
    for rows in in_batches(Reference.objects.all(), gone):
        rows.delete()
    Reference.objects.bulk_create(
        (
            Reference(filter_id=key, owner=owner, name=name)
            for key, owner, name in sorted(wanted - stored.keys())
        ),
        batch_size=BATCH_SIZE,
        ignore_conflicts=True,
    )


def _recompile(
    which: Q, at: int | None, ahead: Ahead | None, *, changed_only: bool = False
) -> None:
    if ahead is None:
        ahead = Ahead()
        with ahead.locked(lambda: Change(which), lambda: None):
            _recompile(which, at, ahead, changed_only=changed_only)
        return
    outcomes = ahead.outcomes(which)
    if changed_only:
        before = by_key(Filter.objects.all(), outcomes, "tql")
        outcomes = {
            key: outcome for key, outcome in outcomes.items() if outcome.differs(before[key])
        }
    if not outcomes:
        return
    for filters in in_batches(Filter.objects.order_by(), outcomes):
        detach(filters)
    at = Clock.instant() if at is None else at  # all that comes has a later one
    _store(outcomes, at)


def _store(outcomes: Mapping[int, Outcome], at: int) -> None:
    """Store what filters mean from ``at`` on; one of which that raises an error is set aside."""

    def store(keys: Sequence[int]) -> list[None]:
        with transaction.atomic():
            _store_at_once(keys, outcomes, at)
        return []

    _, failures = isolate(store, sorted(outcomes))
    for key, error in failures:
        _store_at_once([key], {key: Outcome(unforeseen=error)}, at)


def _store_at_once(keys: Sequence[int], outcomes: Mapping[int, Outcome], at: int) -> None:
    windows, references, changed = [], {}, []
    for rows in in_batches(Filter.objects.select_for_update(), keys):
        for filter_ in rows.order_by("pk"):
            outcome = outcomes[filter_.pk]
            if outcome.unforeseen is None:
                references[filter_.pk] = outcome.references
            else:
                key = f"{filter_.pk}/{PART}"
                reason = set_aside.record(FILTER, key, outcome.unforeseen).reason
                outcome = Outcome(error=reason)
            if window := _apply(filter_, outcome, at):
                windows.append(window)
            changed.append(filter_)
    PendingWindow.objects.bulk_create(windows, batch_size=BATCH_SIZE // 10)
    named = (*CHANGED, "pk")
    update_rows(Filter, CHANGED, ([getattr(row, name) for name in named] for row in changed))
    for rows in in_batches(Filter.objects.order_by(), keys):
        rows.update(updated=timezone.now())
    _store_references(references)


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
    SharedWindow.lock_all()
    detach(Filter.objects.filter(pk=key))
    for filter_ in Filter.objects.select_for_update().filter(pk=key):
        recompile(filter_, filter_.since)
