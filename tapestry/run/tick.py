"""One run of what is due: windows in, matches out, both in one transaction.

    clock ─> until ─┬─ filters apart, each from its own since ─┬─> commit (compare-and-set)
                    └─ all that are joined, from the joint one ┘

A filter that has been run apart once is entered in the index, and joins the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tapestry.core.clock import wall_clock
from tapestry.core.ports import Change, Clock, DueFilter, FilterStore, Match
from tapestry.plan.compile import compile_due
from tapestry.plan.engine import Engine
from tapestry.predicate_index.groups import IndexLookup
from tapestry.predicate_index.probe import SnapshotRows
from tapestry.predicate_index.store import IndexEntry, PredicateIndex
from tapestry.run.own_windows import Run, explained, run_own_windows
from tapestry.run.shared_window import index_entries, run_shared_window
from tapestry.tables.append import advance_watermark
from tapestry.tables.log import Snapshot, Tables, snapshot
from tapestry.tables.read import audiences_in
from tapestry.tables.tombstones import is_history_complete


@dataclass(frozen=True, slots=True)
class TickReport:
    """What one run did: matches, and the changes of live filters.

    ``filters`` were run apart, or found something together with others.  ``committed`` is
    False if another run had taken the windows.
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
    directory_on: Callable[[PredicateIndex], IndexLookup],
    tables: Tables,
    clock: Clock,
    store: FilterStore,
    at: int | None = None,
) -> TickReport:
    """Run every due filter from the end of its last window up to now, or to ``at`` if later.

    The rests of older texts go first.  A filter that finds too much at once is run in parts, one
    a run.  One that does not compile, or that the engine cannot run, is marked as failed and
    left where it stands.
    """
    begun = time.perf_counter()
    until = advance_watermark(tables, clock, wall_clock if at is None else lambda: at)
    index = PredicateIndex(tables.root)
    if not index.files():
        store.detach(None)  # lost, or made by an older version: all are entered anew
    runs: list[Run] = []
    while True:
        due = store.due(until)
        runs.append(run_own_windows(engine_on, tables, store, due, until))
        if not runs[-1].committed or all(one.pending_window is None for one in due):
            break
    runs.append(_run_joint(engine_on, directory_on(index), tables, store, until))
    if runs[-1].committed:
        _join(
            index,
            store,
            [one for run in runs[:-1] if run.committed for one in run.filters],
            until,
        )
    return TickReport(
        until,
        sum(len(run.filters) for run in runs),
        tuple(match for run in runs for match in run.matches),
        tuple(change for run in runs for change in run.changes),
        sum(run.failed for run in runs),
        time.perf_counter() - begun,
        all(run.committed for run in runs),
    )


def _run_joint(
    engine_on: Callable[[Snapshot], Engine],
    lookup: IndexLookup,
    tables: Tables,
    store: FilterStore,
    until: int,
) -> Run:
    """Run all joined filters over the joint window; its first end is where it begins."""
    since = store.shared_since()
    if since is None:
        return Run((), (), (), 0, store.commit_shared(None, until, (), ()))
    if since >= until:
        return Run((), (), (), 0, True)
    found = snapshot(tables)
    present = audiences_in(found)
    joint = run_shared_window(
        lambda: engine_on(found),
        SnapshotRows(found),
        lookup,
        store,
        present,
        since,
        until,
        whole=is_history_complete(tables.root),
    )
    if joint.stale:
        store.detach(joint.stale)
    for one, message in joint.failed:
        store.fail(one, message)
    matches = explained(joint.matches, joint.filters)
    committed = store.commit_shared(since, until, joint.filters, matches)
    return Run(tuple(joint.filters), tuple(matches), (), len(joint.failed), committed)


def _join(
    index: PredicateIndex, store: FilterStore, filters: Sequence[DueFilter], until: int
) -> None:
    """Enter filters in the index, and let them share the joint window from now on.

    Who is entered but did not join is not run from there: the store knows who has.
    """
    joining = [one for one in filters if one.until is None and not one.live]
    entries: list[IndexEntry] = []
    representatives: dict[str, str] = {}
    for one in joining:
        own, texts = index_entries(one, compile_due(one))
        entries += own
        representatives |= texts
    if joining:
        index.add(entries, representatives)
        store.enroll(joining, until)
        index.compact(store.revisions)
