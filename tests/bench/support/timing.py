"""Time what is measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Result = TypeVar("Result")


def timed(run: Callable[[], Result]) -> tuple[float, Result]:
    """Return the wall seconds that a run takes, and its result."""
    begin = time.perf_counter()
    result = run()
    return time.perf_counter() - begin, result


def median_ms(seconds: Sequence[float]) -> float:
    """Return the median of times in seconds, as milliseconds."""
    return round(1000 * statistics.median(seconds), 1)


def warm_median_ms(runs: Iterable[Callable[[], object]]) -> float:
    """Return the median milliseconds of runs without the first two, which warm up."""
    return median_ms([timed(run)[0] for run in runs][2:])
