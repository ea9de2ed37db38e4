"""How long it takes from a filter's text to its plan."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

SAYS = "from a filter's text to its plan; the demo's filters, in turn"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare --repeat."""
    parser.add_argument("--repeat", type=int, default=20)


def measure(options: Mapping[str, Any]) -> dict[str, float | int | str]:
    """Return milliseconds per filter: the first time, the median, the slowest filter's median."""
    from filters.sample.people import FILTERS
    from tapestry.plan.compile import compile_filter
    from tapestry.query.context import Context

    texts = [text for filters in FILTERS.values() for text in filters.values()]
    context = Context("terry", ("terry.goodwin@loom.example",))
    taken: dict[str, list[float]] = {text: [] for text in texts}
    for _ in range(options["repeat"] + 1):
        for text in texts:
            begun = time.perf_counter()
            compile_filter(text, context)
            taken[text].append((time.perf_counter() - begun) * 1000)
    medians = {text: statistics.median(times[1:]) for text, times in taken.items()}
    slowest = max(medians, key=lambda text: medians[text])
    return {
        "filters": len(texts),
        "first_ms": round(statistics.mean(times[0] for times in taken.values()), 2),
        "median_ms": round(statistics.median(medians.values()), 2),
        "slowest_ms": round(medians[slowest], 2),
        "slowest": slowest,
    }
