"""How long it takes from a filter's text to its plan."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from filters.bench.support.texts import MANY, PAPER, alternatives

SUMMARY = "from a filter's text to its plan: the demo's, the paper's, and 256 alternatives"

FIGURES = {
    "compile a filter of the demo, warm": "median {median_ms:.1f} ms",
    "compile a filter of the 1992 paper, warm": "at most {slowest_paper_ms:.1f} ms",
    "compile a filter of many alternatives": "at most {slowest_many_ms:.0f} ms, {slowest_many}",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare --repeat and --alternatives."""
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--alternatives", type=int, default=256)


def measure(options: Mapping[str, Any]) -> dict[str, float | int | str]:
    """Return milliseconds per filter, medians; ``…_cpu_ms`` are those of this process alone.

    ``median`` and ``first`` are the demo's filters, known and new.
    """
    from filters.sample.people import FILTERS

    demo = [text for filters in FILTERS.values() for text in filters.values()]
    repeat = options["repeat"]
    taken = [_taken(text, repeat) for text in demo]
    figures: dict[str, float | int | str] = {
        "filters": len(demo),
        "first_ms": round(statistics.mean(times[0][0] for times in taken), 2),
        "median_ms": round(statistics.median(_median(times)[0] for times in taken), 2),
    }
    texts = {f"paper_{name}": text for name, text in PAPER.items()}
    texts |= {f"many_{name}": alternatives(name, options["alternatives"]) for name in MANY}
    for name, text in texts.items():
        wall, own = _median(_taken(text, repeat))
        figures[f"{name}_ms"], figures[f"{name}_cpu_ms"] = round(wall, 2), round(own, 2)
    for kind in ("paper", "many"):
        slowest = max((n for n in texts if n.startswith(kind)), key=lambda n: figures[f"{n}_ms"])
        figures[f"slowest_{kind}"], figures[f"slowest_{kind}_ms"] = (
            slowest,
            figures[f"{slowest}_ms"],
        )
    return figures


def _taken(text: str, repeat: int) -> list[tuple[float, float]]:
    """Return wall and processor milliseconds of each run, the first of them cold."""
    from tapestry.plan.compile import compile_filter
    from tapestry.query.context import Context

    context = Context("terry", ("terry.goodwin@loom.example",))
    taken = []
    for _ in range(repeat + 1):
        begun, own = time.perf_counter(), time.process_time()
        compile_filter(text, context)
        taken.append(((time.perf_counter() - begun) * 1000, (time.process_time() - own) * 1000))
    return taken


def _median(taken: list[tuple[float, float]]) -> tuple[float, float]:
    wall, own = zip(*taken[1:], strict=True)
    return statistics.median(wall), statistics.median(own)
