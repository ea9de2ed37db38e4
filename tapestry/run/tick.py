"""One run of what is due: windows in, matches out, both in one transaction.

    clock ─> until ─┬─ all enrolled filters, from the shared since ─────────────────┬─> commit
                    └─ filters with windows of their own, each from its own since ──┘

``until`` is the watermark: all that was stamped up to it is visible.  The windows (since, until] of
a filter are tumbling windows: they follow each other without a gap [Terry92 §3], beside which time
alone brings matches too [Chen00 §3.6].  A commit is a compare-and-set of the window's start, so
that each match is stored exactly once.  A filter that has been run up to ``until`` by itself is
entered in the predicate index, and enrolled in the shared window.

The workers run the parts apart, each in a lane (``lanes.py``); here all run one after the other.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import reduce

from tapestry.core.clock import wall_clock
from tapestry.core.log import event
from tapestry.core.ports import Change, Clock, Match
from tapestry.run.lanes import run_shared
from tapestry.run.resources import Resources
from tapestry.run.windows.enrollment import enroll, of_part
from tapestry.run.windows.own import Run, refuse_slow, run_each, run_own_windows
from tapestry.tables.write.append import advance_watermark


@dataclass(frozen=True, slots=True)
class TickReport:
    """The outcome of one run.

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


def tick(resources: Resources, clock: Clock, at: int | None = None) -> TickReport:
    """Run every due filter from the end of its last window up to now, or to ``at`` if later.

    The pending windows of older revisions go first.  A filter that finds too much at once is run
    in parts, one a run.  A filter that does not compile, or that the engine cannot run, is marked
    as failed, and its window stays.
    """
    started = time.perf_counter()
    store = resources.store
    until = advance_watermark(resources.tables, clock, wall_clock if at is None else lambda: at)
    parts = [resources.of_part(part) for part in store.parts()]
    shared_runs = [run_shared(part, until) for part in parts]
    shared = reduce(Run.followed_by, shared_runs)
    own_runs: list[Run] = []
    while True:
        due = store.due(until)
        run = run_each(store, due, lambda some: run_own_windows(resources, some, until))
        own_runs.append(refuse_slow(store, run))
        if not run.committed or all(due_filter.pending_window is None for due_filter in due):
            break
    done = [due_filter for run in own_runs if run.committed for due_filter in run.filters]
    for part, its_run in zip(parts, shared_runs, strict=True):
        if its_run.committed:
            joining = of_part(store, done, part.store.part)
            enroll(part.index, part.store, joining, until)
    run = reduce(Run.followed_by, own_runs, shared)
    report = TickReport(
        until,
        len(run.filters),
        run.matches,
        run.changes,
        run.failed,
        time.perf_counter() - started,
        run.committed,
    )
    event(
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
