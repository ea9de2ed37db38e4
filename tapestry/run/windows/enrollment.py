"""Enter filters in the predicate index, and let them share the window from then on.

The window is run in parts, by workers at the same time (partitioned execution).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.ports import DueFilter, FilterStore
from tapestry.plan.compile import compile_due
from tapestry.predicate_index.covering import own_columns
from tapestry.predicate_index.store import Entry, IndexFullError, PredicateIndex, index_entries
from tapestry.run.limits.isolation import isolate

Enrollment = tuple[DueFilter, list[Entry], dict[str, str]]
"""A filter, its entries, and its text as the representative of its signatures."""


def part_of(due_filter: DueFilter, divided_by: int) -> int:
    """Return the part of the shared window that a filter belongs to.

    A statement costs much the same for one filter or many: so filters of one signature are in one
    part, unless postings decide it, which divide by constants too.  Of several disjuncts the first
    counts.  What does not compile is of part 0: its run says why.
    """
    if divided_by == 1:
        return 0
    try:
        plan = next(iter(compile_due(due_filter).plans), None)
    except TapestryError:
        return 0
    if plan is None:
        return 0
    signature = plan.signature
    constants = signature.constants if own_columns(plan.disjunct) else ()
    text = json.dumps([signature.key, *(constant.value for constant in constants)])
    return zlib.crc32(text.encode()) % divided_by


def of_part(store: FilterStore, due_filters: Sequence[DueFilter], part: int) -> Sequence[DueFilter]:
    """Return those of the filters that belong to a part of the shared window."""
    if store.divided_by == 1:
        return due_filters if part == 0 else ()

    def number(some: Sequence[DueFilter]) -> list[tuple[DueFilter, int]]:
        return [(due_filter, part_of(due_filter, store.divided_by)) for due_filter in some]

    numbered, unknown = isolate(number, due_filters)
    numbered += [(due_filter, 0) for due_filter, _ in unknown]
    return [due_filter for due_filter, its in numbered if its == part]


def can_share(due_filter: DueFilter) -> bool:
    """Return whether a filter that was run over its own window may share the next one."""
    is_alone = due_filter.live or due_filter.completeness is not None
    return due_filter.until is None and not is_alone


def sharing(store: FilterStore, done: Sequence[DueFilter]) -> list[DueFilter]:
    """Return those of the filters that may share the next window, and are not held out of it."""

    def sharing_of(some: Sequence[DueFilter]) -> list[DueFilter]:
        able = [due_filter for due_filter in some if can_share(due_filter)]
        held_out = store.held_out({due_filter.filter_id for due_filter in able}) if able else ()
        return [due_filter for due_filter in able if due_filter.filter_id not in held_out]

    shared, unknown = isolate(sharing_of, done)
    _expel(store, unknown)
    return shared


def renew(index: PredicateIndex, store: FilterStore) -> None:
    """Have all filters be entered anew where the index is lost, damaged, or of another version.

    A backup has none.  To be called before anything is read of it or added: one that holds a
    filter no longer tells that it was lost.
    """
    index.drop_if_damaged()
    if not index.files():
        store.detach(None)
        index.delete_other_versions()


def enroll(
    index: PredicateIndex, store: FilterStore, done: Sequence[DueFilter], until: int
) -> None:
    """Enroll filters that were run to ``until``, where the shared window ends.

    A filter that is entered but not enrolled keeps a window of its own: the store knows which
    are.  So does a filter for which the index has no room, and one that cannot be entered.
    """
    wanted = sharing(store, done)
    if not wanted:
        return
    renew(index, store)
    room = index.room()
    read, unread = isolate(_entries, wanted if room > 0 else ())
    entered: list[Enrollment] = []
    for due_filter, entries, texts in read:
        if len(entries) <= room:
            entered.append((due_filter, entries, texts))
            room -= len(entries)
    refused = len(wanted) - len(entered) - len(unread)
    if refused:
        event("not_enrolled", filters=refused, error=IndexFullError(refused).message)

    def enter(some: Sequence[Enrollment]) -> list[None]:
        representatives = {name: text for _, _, texts in some for name, text in texts.items()}
        index.add([entry for _, entries, _ in some for entry in entries], representatives)
        store.enroll([due_filter for due_filter, _, _ in some], until)
        return []

    _, unentered = isolate(enter, entered)
    _expel(store, [*unread, *((entry[0], error) for entry, error in unentered)])
    _, uncompacted = isolate(
        lambda _: [index.compact(store.revisions, full=refused > 0)], ["compact"]
    )
    for what, error in uncompacted:
        store.work_around(what, error)


def _entries(
    due_filters: Sequence[DueFilter],
) -> list[Enrollment]:
    return [
        (due_filter, *index_entries(due_filter, compile_due(due_filter)))
        for due_filter in due_filters
    ]


def _expel(store: FilterStore, failures: Sequence[tuple[DueFilter, Exception]]) -> None:
    if failures:
        store.expel({due_filter.filter_id: error for due_filter, error in failures})
