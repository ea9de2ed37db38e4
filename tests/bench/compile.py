"""How long it takes from a filter's text to its plan."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser
from typing import Any

from tests.bench.support.texts import MANY, PAPER, alternatives

SUMMARY = "from a filter's text to its plan: the demo's, the paper's, and 256 alternatives"

FIGURES = {
    "compile a filter of the demo, warm": "median {median_ms:.1f} ms",
    "compile a filter of the 1992 paper, warm": "at most {slowest_paper_ms:.1f} ms",
    "compile a filter of many alternatives": "at most {slowest_many_ms:.0f} ms, {slowest_many}",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--alternatives", type=int, default=256)


def measure(options: dict[str, Any]) -> dict[str, float | int | str]:
    """Return milliseconds per filter, medians; ``…_cpu_ms`` are those of this process alone.

    ``median`` and ``first`` are the demo's filters, known and new.
    """
    from filters.sample.people import FILTERS

    repeat = options["repeat"]
    runs = [_runs(text, repeat) for texts in FILTERS.values() for text in texts.values()]
    figures: dict[str, float | int | str] = {
        "filters": len(runs),
        "first_ms": round(statistics.mean(wall[0] for wall, _ in runs), 2),
        "median_ms": round(statistics.median(statistics.median(wall[1:]) for wall, _ in runs), 2),
    }
    texts = {
        "paper": PAPER,
        "many": {kind: alternatives(kind, options["alternatives"]) for kind in MANY},
    }
    slowest: dict[str, float | str] = {}
    for group, members in texts.items():
        medians = {}
        for name, text in members.items():
            wall, cpu = (round(statistics.median(times[1:]), 2) for times in _runs(text, repeat))
            figures[f"{group}_{name}_ms"], figures[f"{group}_{name}_cpu_ms"] = wall, cpu
            medians[f"{group}_{name}"] = wall
        worst = max(medians, key=lambda name: medians[name])
        slowest |= {f"slowest_{group}": worst, f"slowest_{group}_ms": medians[worst]}
    return figures | slowest


def _runs(text: str, repeat: int) -> tuple[list[float], list[float]]:
    """Return wall and processor milliseconds of each run, the first of them cold."""
    from tapestry.plan.compile import compile_filter
    from tapestry.query.context import Context

    context = Context("terry", ("terry.goodwin@loom.example",))
    wall, cpu = [], []
    for _ in range(repeat + 1):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        compile_filter(text, context)
        wall.append((time.perf_counter() - begin) * 1000)
        cpu.append((time.process_time() - cpu_begin) * 1000)
    return wall, cpu
