"""The lanes of a run, which do not wait for each other: workload isolation, with bulkheads.

    shared window ── all enrolled filters, up to the watermark ─────────────> first Spark
    own windows ──── proven filters, up to where the shared window ends ────> first Spark
    unproven ─────── new and changed filters, fairly by owner ──────────────> second Spark

A filter is proven once a run of it by itself took little time.  One that takes long in a lane that
others use is unproven again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from tapestry.core.log import event
from tapestry.core.ports import DueFilter, FilterStore, Match
from tapestry.core.surroundings import is_of_surroundings
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.probe import SnapshotRows
from tapestry.run.limits.suspects import newest, open_engine
from tapestry.run.limits.window_cut import cut
from tapestry.run.resources import Resources
from tapestry.run.unproven import Turns, run_turn
from tapestry.run.windows.enrollment import enroll, of_part, renew, sharing
from tapestry.run.windows.own import Run, refuse_all, run_each, run_own_windows
from tapestry.run.windows.shared import SharedWindow
from tapestry.tables.delta.log import Snapshot
from tapestry.tables.keys.tombstones import is_history_complete
from tapestry.tables.read.messages import audiences_in

MOST_JOINING = 10
"""Filters that are run while the shared window waits for them; the others join later."""


def run_shared(resources: Resources, until: int) -> Run:
    """Run all filters of the store's part over the shared window, up to ``until``.

    Much new mail is taken in several windows.  The part begins at the end of its first run.
    """
    store = resources.store
    renew(resources.index, store)
    since = store.shared_since()
    if since is None:
        return Run(committed=store.commit_shared(None, until, (), ()))
    done = Run()
    while since < until and done.committed:
        seen = newest(resources.tables)
        end = cut(seen, since, until, resources.limits.most_rows)
        done, since = done.followed_by(_run_shared_window(resources, seen, since, end)), end
    return done


def _run_shared_window(resources: Resources, seen: Snapshot, since: int, until: int) -> Run:
    store = resources.store
    window = SharedWindow(
        open_engine(resources.engine_on, seen),
        SnapshotRows(seen),
        InMemoryLookup(resources.index, audiences_in(seen)),
        store,
        since,
        until,
        history_complete=is_history_complete(resources.tables.root),
        seconds=resources.limits.shared,
    )
    window.run()
    if window.slow:
        event("slow", lane="shared", filters=len(window.slow))
        store.prove(window.slow, proven=False)
    if window.stale:
        store.detach(window.stale)
    if window.expelled:
        store.expel(window.expelled)
    for what, error in window.worked_around.items():
        store.work_around(what, error)
    refuse_all(store, window.failed)
    return _commit_shared(store, since, until, window.filters, window.matches, len(window.failed))


def _commit_shared(
    store: FilterStore,
    since: int,
    until: int,
    filters: Sequence[DueFilter],
    matches: Sequence[Match],
    failed: int,
) -> Run:
    """Store what the shared window gave; where that raises an error, that of half the filters.

    The others are detached first: their own windows begin where this one does, and there only the
    one that raises it is set aside.
    """
    while True:
        try:
            committed = store.commit_shared(since, until, filters, matches)
            return Run(tuple(filters), tuple(matches), (), failed, committed)
        except Exception as error:
            if not filters or is_of_surroundings(error):
                raise
            middle = len(filters) // 2
            if middle:
                store.detach([due_filter.filter_id for due_filter in filters[middle:]])
            else:
                store.expel({filters[0].filter_id: error})
            filters = filters[:middle]
            kept = {due_filter.filter_id for due_filter in filters}
            matches = [match for match in matches if match.filter_id in kept]


def run_proven(resources: Resources, until: int) -> Run:
    """Run the proven filters of the store's part that have windows of their own.

    If they take too long together, those of each owner are run by themselves, and those that take
    too long even so are proven no more.
    """
    store = resources.store
    proven = [due_filter for due_filter in store.due(until) if due_filter.proven]
    due = of_part(store, proven, store.part)
    return run_each(store, due, lambda some: _run_proven(resources, some, until))


def _run_proven(resources: Resources, due: Sequence[DueFilter], until: int) -> Run:
    store, seconds = resources.store, resources.limits.own
    run = run_own_windows(resources, due, until, seconds, isolate_slow=False)
    by_owner: dict[str, list[DueFilter]] = defaultdict(list)
    for due_filter, _ in run.slow:
        by_owner[due_filter.owner].append(due_filter)
    if len(by_owner) < 2:
        return _unprove_slow(store, run, "own")
    run = replace(run, slow=())
    for owned in by_owner.values():
        part = run_own_windows(resources, owned, until, seconds, isolate_slow=False)
        run = run.followed_by(_unprove_slow(store, part, "own"))
    return run


def _unprove_slow(store: FilterStore, run: Run, lane: str) -> Run:
    """Let the slow filters of a run go back to the lane of unproven ones."""
    if run.slow:
        event("slow", lane=lane, filters=len(run.slow))
        store.prove([due_filter.filter_id for due_filter, _ in run.slow], proven=False)
    return replace(run, slow=())


def join_shared(
    resources: Resources,
    run: Run,
    shared_lane: Callable[[], AbstractContextManager[bool]],
) -> None:
    """Enroll filters that ``run`` has run by themselves in their part, which waits for it.

    Those that the shared window has left behind meanwhile are first run up to its end, which
    takes little time: little is new since then.
    """
    store, seconds = resources.store, resources.limits.joining
    filter_ids = {due.filter_id for due in sharing(store, run.filters)}
    if not (filter_ids and run.committed):
        return
    with shared_lane() as held:
        until = store.shared_since()
        if not held or until is None:
            return
        behind = [due for due in store.due(until) if due.filter_id in filter_ids and due.proven]
        joining = behind[:MOST_JOINING]
        last = run_each(
            store,
            joining,
            lambda some: run_own_windows(resources, some, until, seconds, isolate_slow=False),
        )
        _unprove_slow(store, last, "joining")
        late = {due.filter_id for due in behind}
        ready = [due for due in run.filters if due.filter_id in filter_ids - late]
        enroll(resources.index, store, [*ready, *(last.filters if last.committed else ())], until)


def run_unproven(resources: Resources, turns: Turns, *, most_seconds: float) -> Iterable[Run]:
    """Run unproven filters for about so many seconds, and yield the run of each owner's turn."""
    end, store = time.monotonic() + most_seconds, resources.store
    while time.monotonic() < end:
        until = store.latest_since()
        due = [] if until is None else [d for d in store.due(until) if not d.proven]
        with turns.next({due_filter.owner for due_filter in due}) as owner:
            if until is None or owner is None:
                return
            mine = [due_filter for due_filter in due if due_filter.owner == owner]
            turn = partial(run_turn, resources, turns.portions, until=until)
            yield run_each(store, mine, turn)
