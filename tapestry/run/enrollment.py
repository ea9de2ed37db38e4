"""Enter filters in the predicate index, and let them share the window from then on."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from tapestry.core.log import event
from tapestry.core.ports import DueFilter, FilterStore
from tapestry.plan.compile import compile_due
from tapestry.predicate_index.store import IndexEntry, IndexFullError, PredicateIndex, index_entries

log = logging.getLogger(__name__)


def can_share(due_filter: DueFilter) -> bool:
    """Return whether a filter that was run over its own window may share the next one."""
    return due_filter.until is None and not due_filter.live


def enroll(
    index: PredicateIndex, store: FilterStore, done: Sequence[DueFilter], until: int
) -> None:
    """Enroll filters that were run to ``until``, where the shared window ends.

    A filter that is entered but not enrolled keeps a window of its own: the store knows which
    are.  So does a filter for which the index has no room.
    """
    wanted = [due_filter for due_filter in done if can_share(due_filter)]
    if not wanted:
        return
    room = index.room()
    entered: list[DueFilter] = []
    entries: list[IndexEntry] = []
    representatives: dict[str, str] = {}
    for due_filter in wanted if room > 0 else ():
        own_entries, texts = index_entries(due_filter, compile_due(due_filter))
        if len(entries) + len(own_entries) <= room:
            entered.append(due_filter)
            entries += own_entries
            representatives |= texts
    refused = len(wanted) - len(entered)
    if refused:
        event(log, "not_enrolled", filters=refused, error=IndexFullError(refused).message)
    if entered:
        index.add(entries, representatives)
        store.enroll(entered, until)
    index.compact(store.revisions, full=refused > 0)
