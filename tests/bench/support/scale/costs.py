"""Measure what the model of a large site needs: appends, windows, transactions, releases.

What depends on how much there is, is measured at several sizes; a straight line through them has
the fixed cost and that of one more.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from filters.runs.store import release
from filters.runs.store.filter_store import DjangoClock, DjangoFilterStore
from filters.site.work.parts import services
from tapestry.core.message import PUBLIC, Message
from tapestry.core.ports import LockedClock
from tapestry.predicate_index import lookup
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import advance_watermark, append_messages
from tests.bench.support.harness import Harness
from tests.bench.support.population import Workload
from tests.bench.support.scale.model import Costs
from tests.bench.support.timing import timed

APPENDS = (1, 30, 300)
"""Messages of the appends that are measured."""

INSTALLED = 200_000
"""Filters of the predicate index that is measured."""

WARMING, REPEAT = 4, 9
"""Rounds of each size that are left out, and that are measured."""

_LETTER = b"Subject: text\n\ntext"


def measure_costs(archive: int, filters: Sequence[int], messages: Sequence[int]) -> Costs:
    """Return the costs, measured over two numbers of filters that all find something.

    And over two numbers of new messages; needs a Spark server.
    """
    few, many = filters
    little, much = messages
    workload = Workload(archive, 3 * (WARMING + REPEAT))
    harness = Harness(workload, many)
    windows: list[tuple[float, float, float]] = []
    commits: list[tuple[float, float]] = []
    for count, new in ((few, little), (many, little), (many, much)):
        with _timing(DjangoFilterStore, "commit_shared") as taken:
            point = harness.point(count, new, WARMING, REPEAT)
        commit = statistics.median(seconds for seconds, _ in taken[WARMING:])
        commits.append((point["matches"], commit))
        windows.append((new, point["matches"], point["tick_cpu_seconds"] - commit))
    released, release_seconds = _release_all()
    # From here on the clock is that of now: the rounds have a clock of their own.
    appends = Tables(Path(services.data()) / "appends")
    append, append_message = _fit([(n, _append_seconds(appends, n)) for n in APPENDS])
    window, message, match = _fit(windows)
    commit, commit_match = _fit(commits)
    return Costs(
        append=append,
        append_message=append_message,
        watermark=_watermark_seconds(),
        window=window,
        message=message,
        match=match,
        commit=commit,
        commit_match=commit_match,
        release_match=release_seconds / max(released, 1),
        entry_bytes=_entry_bytes(harness),
    )


@dataclass(slots=True)
class TimedClock:
    """The clock of the site, which notes for how long it was held each time."""

    held: list[float] = field(default_factory=list)

    @contextmanager
    def lock(self) -> Iterator[LockedClock]:
        """Hold the clock."""
        with DjangoClock().lock() as locked:
            begin = time.perf_counter()
            yield locked
            self.held.append(time.perf_counter() - begin)


def _append_seconds(tables: Tables, count: int) -> float:
    """Return how long an append of so many messages holds the clock."""
    clock, originals = TimedClock(), [Original(_LETTER)] * count
    for turn in range(2 + REPEAT):
        letters = [Message(f"{count}.{turn}.{n}@x.org", body="text") for n in range(count)]
        append_messages(tables, clock, letters, originals=originals)
    return statistics.median(clock.held[2:])


def _release_all() -> tuple[int, float]:
    """Release all that was found; return how much, and the seconds."""
    seconds, released = timed(release.release)
    return released, seconds


def _entry_bytes(harness: Harness) -> float:
    """Return the memory that a filter takes in the predicate index."""
    harness.population.grow(INSTALLED)
    lookup.InMemoryLookup(harness.population.indexes[0], (PUBLIC,))
    loaded = [segment for part in lookup._loaded.values() for segment in part.values()]
    return sum(map(_nbytes, loaded)) / INSTALLED


def _nbytes(segment: lookup.Segment) -> int:
    hashes = (segment.key_hashes, segment.query_hashes)
    runs = sum(int(run.hashes.nbytes + run.values.nbytes) for run in hashes)
    columns = sum(int(column.nbytes) for column in (*segment.numbers, segment.codes))
    return runs + columns + int(segment.texts.nbytes)


def _watermark_seconds() -> float:
    """Return how long a window's watermark holds the clock."""
    clock = TimedClock()
    for _ in range(REPEAT):
        advance_watermark(services.tables(), clock)
    return statistics.median(clock.held)


def _fit(points: Sequence[tuple[float, ...]]) -> list[float]:
    """Return the fixed cost, and that of one more of each count, of (counts, …, seconds).

    None of them is negative.

    >>> [round(cost, 4) for cost in _fit([(0, 1.0), (10, 2.0), (20, 3.0)])]
    [1.0, 0.1]
    >>> [round(cost, 4) for cost in _fit([(100, 10, 1.3), (100, 20, 1.5), (300, 20, 1.7)])]
    [1.0, 0.001, 0.02]
    """
    table = np.array(points, dtype=float)
    counts = np.insert(table[:, :-1], 0, 1.0, axis=1)
    costs = np.linalg.lstsq(counts, table[:, -1], rcond=None)[0]
    return [max(float(cost), 0.0) for cost in costs]


@contextmanager
def _timing(owner: type, name: str) -> Iterator[list[tuple[float, Any]]]:
    """Let a method of a class be timed; yield the seconds and results of its calls."""
    method, taken = getattr(owner, name), list[tuple[float, Any]]()

    def timed_method(*args: Any, **options: Any) -> Any:
        taken.append(timed(lambda: method(*args, **options)))
        return taken[-1][1]

    setattr(owner, name, timed_method)
    try:
        yield taken
    finally:
        setattr(owner, name, method)
