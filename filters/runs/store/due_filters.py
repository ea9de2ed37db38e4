"""Filters as a run takes them: what is stored of a filter, and what is known of its owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter

from django.db.models import QuerySet

from filters.authoring.models import Filter, PendingWindow
from filters.people import people
from filters.runs.store import waiting
from filters.runs.store.asides import key_of
from filters.site.work.db.batching import in_batches
from tapestry.core.ports import DueFilter

_FIELDS = ("pk", "owner_id", "tql", "start", "revision", "mode", "phrase", "display_tql")


def of_windows(
    filters: Collection[Filter],
    windows: Mapping[int, PendingWindow],
    set_aside: Collection[str] = (),
) -> list[DueFilter]:
    """Return those of the filters whose owners are active, by key, with their pending windows.

    ``set_aside`` are the keys of windows of which the last run raised an error.
    """
    owners = people.owners_by_key(filter_.owner_id for filter_ in filters)
    recorded = waiting.facts((*filters, *windows.values()))
    due = []
    for filter_ in sorted(filters, key=attrgetter("pk")):
        owner = owners.get(filter_.owner_id)
        if owner is None or not owner.active:
            continue
        pending = windows.get(filter_.pk)
        text = filter_ if pending is None else pending
        due.append(
            DueFilter(
                filter_id=filter_.pk,
                text=text.tql,
                owner=owner.name,
                addresses=owner.addresses,
                audiences=owner.audiences,
                since=text.since,
                start=text.start,
                revision=filter_.revision,
                until=None if pending is None else pending.until,
                pending_window=None if pending is None else pending.pk,
                live=filter_.is_live,
                explanation=text.explanation,
                proven=filter_.proven,
                set_aside=key_of(filter_.pk, None if pending is None else pending.pk) in set_aside,
                existing_until=_existing_until(text),
                completeness=waiting.completeness(text, owner.audiences, recorded),
            )
        )
    return due


def _existing_until(text: Filter | PendingWindow) -> int | None:
    """Return up to which instant what a window finds was there before its filter was."""
    until = text.existing_until
    return until if until is not None and text.since < until else None


def named(filter_: Filter, pending: PendingWindow | None) -> DueFilter:
    """Return of a filter that cannot be read what names its window."""
    window = filter_ if pending is None else pending
    pending_key = None if pending is None else pending.pk
    return DueFilter(
        filter_.pk, "", "", (), (), window.since, None, filter_.revision, None, pending_key
    )


def of_rows(filters: QuerySet[Filter], filter_ids: Iterable[int], since: int) -> list[DueFilter]:
    """Return filters of active owners, by key, with a window from ``since``.

    There may be 100,000 of them: no object of the model is made.
    """
    rows = sorted(
        row for batch in in_batches(filters, filter_ids) for row in batch.values_list(*_FIELDS)
    )
    owners = people.owners_by_key(row[1] for row in rows)
    return [
        DueFilter(
            filter_id=pk,
            text=tql,
            owner=owner.name,
            addresses=owner.addresses,
            audiences=owner.audiences,
            since=since,
            start=start,
            revision=revision,
            live=mode == Filter.Mode.LIVE,
            explanation=display_tql and (phrase or display_tql),
        )
        for pk, owner_id, tql, start, revision, mode, phrase, display_tql in rows
        if (owner := owners.get(owner_id)) is not None and owner.active
    ]
