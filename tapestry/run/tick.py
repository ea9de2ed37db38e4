"""One run of what is due: windows in, matches out, both in one transaction.

    clock ─> until ─┬─ filters with windows of their own, each from its own since ─┬─> commit
                    └─ all enrolled filters, from the shared since ────────────────┘

``until`` is the watermark: all that was stamped up to it is visible.  The windows (since, until]
of a filter are tumbling windows: they follow each other without a gap.  A commit is a
compare-and-set of the window's start, so that each match is stored exactly once.  A filter that
has been run up to ``until`` by itself is entered in the predicate index, and enrolled in the
shared window.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tapestry.core.clock import wall_clock
from tapestry.core.log import event
from tapestry.core.ports import Change, Clock, DueFilter, FilterStore, Match
from tapestry.plan.compile import compile_due
from tapestry.plan.engine import Engine
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.probe import SnapshotRows
from tapestry.predicate_index.store import IndexEntry, IndexFullError, PredicateIndex, index_entries
from tapestry.run.own_windows import Run, explained, refuse, run_own_windows
from tapestry.run.shared_window import run_shared_window
from tapestry.tables.append import advance_watermark
from tapestry.tables.log import Snapshot, Tables, snapshot
from tapestry.tables.read import audiences_in
from tapestry.tables.tombstones import is_history_complete

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one run did.

    ``filters`` had windows of their own, or matched something in the shared one.  ``committed``
    is False if another run had stored the windows.
    """

    until: int
    filters: int
    matches: tuple[Match, ...]
    changes: tuple[Change, ...]
    failed: int
    seconds: float
    committed: bool


def tick(
    engine_on: Callable[[Snapshot], Engine],
    tables: Tables,
    clock: Clock,
    store: FilterStore,
    at: int | None = None,
) -> TickReport:
    """Run every due filter from the end of its last window up to now, or to ``at`` if later.

    The pending windows of older revisions go first.  A filter that finds too much at once is run
    in parts, one a run.  A filter that does not compile, or that the engine cannot run, is marked
    as failed, and its window stays.
    """
    started = time.perf_counter()
    until = advance_watermark(tables, clock, wall_clock if at is None else lambda: at)
    index = PredicateIndex(tables.root)
    if not index.files():
        store.detach(None)  # lost, or made by another version: all are entered anew
        index.delete_other_versions()
    own_runs: list[Run] = []
    while True:
        due = store.due(until)
        own_runs.append(run_own_windows(engine_on, tables, store, due, until))
        if not own_runs[-1].committed or all(
            due_filter.pending_window is None for due_filter in due
        ):
            break
    shared = _run_shared(engine_on, index, tables, store, until)
    if shared.committed:
        done = [due_filter for run in own_runs if run.committed for due_filter in run.filters]
        _enroll(index, store, done, until)
    runs = [*own_runs, shared]
    report = TickReport(
        until,
        sum(len(run.filters) for run in runs),
        tuple(match for run in runs for match in run.matches),
        tuple(change for run in runs for change in run.changes),
        sum(run.failed for run in runs),
        time.perf_counter() - started,
        all(run.committed for run in runs),
    )
    event(
        log,
        "tick",
        until=until,
        own=report.filters - len(shared.filters),
        shared=len(shared.filters),
        matches=len(report.matches),
        changes=len(report.changes),
        failed=report.failed,
        committed=report.committed,
        seconds=report.seconds,
    )
    return report


def _run_shared(
    engine_on: Callable[[Snapshot], Engine],
    index: PredicateIndex,
    tables: Tables,
    store: FilterStore,
    until: int,
) -> Run:
    """Run all enrolled filters over the shared window, which begins at the end of the first run."""
    since = store.shared_since()
    if since is None:
        return Run(committed=store.commit_shared(None, until, (), ()))
    if since >= until:
        return Run()
    seen = snapshot(tables)
    result = run_shared_window(
        lambda: engine_on(seen),
        SnapshotRows(seen),
        InMemoryLookup(index, audiences_in(seen)),
        store,
        since,
        until,
        history_complete=is_history_complete(tables.root),
    )
    if result.stale:
        store.detach(result.stale)
    for due_filter, error in result.failed:
        refuse(store, due_filter, error)
    matches = explained(result.matches, result.filters)
    committed = store.commit_shared(since, until, result.filters, matches)
    return Run(tuple(result.filters), tuple(matches), (), len(result.failed), committed)


def _enroll(
    index: PredicateIndex, store: FilterStore, done: Sequence[DueFilter], until: int
) -> None:
    """Enter filters in the index, and let them share the window from now on.

    A filter that is entered but not enrolled keeps a window of its own: the store knows which
    are.  So does a filter for which the index has no room.
    """
    wanted = [due_filter for due_filter in done if due_filter.until is None and not due_filter.live]
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
