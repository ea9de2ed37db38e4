"""Run filters that have not shown yet what they cost, so that no owner's hold up another's.

This is admission control, with fair scheduling: owners take turns, the one who has used the least
time first.  A turn is one run with a time limit.  If an owner's filters are too much together,
each is run alone from then on; if one is too much alone, over a part of its window, or, if it is a
live filter that begins, over all of it again; and if that does not help, it is set aside in words.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tapestry.core.log import event
from tapestry.core.ports import DueFilter
from tapestry.run.limits.suspects import newest
from tapestry.run.limits.window_cut import half
from tapestry.run.resources import Resources
from tapestry.run.windows.own import Run, refuse_slow, run_own_windows
from tapestry.tables.delta.log import Tables

HALF_LIFE = 60.0
"""Seconds after which the time that an owner has used counts half."""

MOST_TOGETHER = 10
"""Filters of one turn: what they find comes when all have been run."""

Window = tuple[int, int, int | None]
"""A filter, its revision, and the pending window if it is one."""


@dataclass(slots=True)
class Portion:
    """The part of its window that a filter alone is run over; 0 ``halvings`` are all of it."""

    halvings: int = 0
    tries: int = 0


@dataclass(slots=True)
class Portions:
    """The filters that are run alone; ``alone_next`` are the owners whose turn is theirs."""

    alone: dict[Window, Portion] = field(default_factory=dict)
    alone_next: set[str] = field(default_factory=set)

    def choose(self, due: Sequence[DueFilter]) -> tuple[Sequence[DueFilter], Portion | None]:
        """Return the filters of this turn: several together, or one and its portion, in turn."""
        owner = due[0].owner
        together = [filter_ for filter_ in due if _window(filter_) not in self.alone]
        alone = [filter_ for filter_ in due if _window(filter_) in self.alone]
        if together and (not alone or owner not in self.alone_next):
            self.alone_next.add(owner)
            return together[:MOST_TOGETHER], None
        self.alone_next.discard(owner)
        least_tried = min(alone, key=lambda filter_: self.alone[_window(filter_)].tries)
        portion = self.alone[_window(least_tried)]
        portion.tries += 1
        return [least_tried], portion


class Turns:
    """Turns of owners; one object for all threads that run unproven filters."""

    def __init__(self) -> None:
        self.portions = Portions()
        self._lock = threading.Lock()
        self._used: dict[str, tuple[float, float]] = {}
        self._busy: set[str] = set()

    @contextmanager
    def next(self, owners: Collection[str]) -> Iterator[str | None]:
        """Yield the owner who has used the least time and has no turn now; None if all have."""
        with self._lock:
            free = sorted(set(owners) - self._busy)
            owner = min(free, key=self._seconds, default=None)
            if owner is not None:
                self._busy.add(owner)
        started = time.monotonic()
        try:
            yield owner
        finally:
            if owner is not None:
                now = time.monotonic()
                with self._lock:
                    self._busy.remove(owner)
                    self._used[owner] = self._seconds(owner) + now - started, now

    def _seconds(self, owner: str) -> float:
        seconds, at = self._used.get(owner, (0.0, 0.0))
        return seconds * math.exp2((at - time.monotonic()) / HALF_LIFE)


def run_turn(resources: Resources, portions: Portions, due: Sequence[DueFilter], until: int) -> Run:
    """Run some filters of one owner within the time limit, and store what they found.

    Those that took little time, and are run up to ``until``, are proven.
    """
    started, limits = time.monotonic(), resources.limits
    chosen, portion = portions.choose(due)
    if portion is not None:
        run = _run_alone(resources, portion, chosen[0], until)
    else:
        run = run_own_windows(resources, chosen, until, limits.unproven, isolate_slow=False)
        for due_filter, _ in run.slow:
            portions.alone[_window(due_filter)] = Portion()
    is_light = time.monotonic() - started <= limits.light
    proven = [d for d in run.filters if d.until is None] if is_light else []
    resources.store.prove([due_filter.filter_id for due_filter in proven], proven=True)
    for due_filter in chosen if run.failed else proven:
        portions.alone.pop(_window(due_filter), None)
    return run


def _run_alone(resources: Resources, portion: Portion, due: DueFilter, until: int) -> Run:
    """Run one filter over its window, or over as much of it as can be run in time.

    A live filter that begins is run over all of it: the answer of a part would be taken for its
    whole answer.  It has as many tries as another has portions.
    """
    started, limits, tables = time.monotonic(), resources.limits, resources.tables
    whole_end = due.end(until)
    halvings = 0 if due.is_live_beginning else portion.halvings
    end = _end(tables, due.since, whole_end, halvings)
    part = due if end == whole_end else replace(due, until=end)
    run = run_own_windows(resources, [part], end, limits.unproven)
    if not run.slow:
        if time.monotonic() - started < limits.unproven / 4:
            portion.halvings = max(0, portion.halvings - 1)
        return run
    if due.is_live_beginning:
        is_last_try = portion.tries > limits.halvings
        return refuse_slow(resources.store, run) if is_last_try else replace(run, slow=())
    if portion.halvings == limits.halvings or _end(tables, due.since, end, 1) == end:
        return refuse_slow(resources.store, run)
    portion.halvings += 1
    event("halved", filter_id=due.filter_id, halvings=portion.halvings)
    return replace(run, slow=())


def _end(tables: Tables, since: int, until: int, halvings: int) -> int:
    """Return the end of a window that is halved so often, as long as it can be."""
    seen = newest(tables) if halvings else None
    for _ in range(halvings):
        end = half(seen, since, until) if seen else None
        if end is None:
            break
        until = end
    return until


def _window(due: DueFilter) -> Window:
    return due.filter_id, due.revision, due.pending_window
