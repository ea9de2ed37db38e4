"""How long aggregates and top-k take over new votes, against a query over all votes."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from typing import Any

from filters.site.work.parts import services
from tapestry.tables.delta.log import snapshot
from tests.bench.support.timing import warm_median_ms

SUMMARY = "filters that count and rank: the new votes alone, against all of them"

FILTERS = {
    "more_than": "voted for by more than 500 people",
    "score": "with a score above 100",
    "average": "AVG(a.number IN annotations: a.msgid = m.msgid AND a.kind = 'vote') > 0",
    "within_a_week": "COUNT(a IN annotations: a.msgid = m.msgid AND a.kind = 'vote' "
    "AND a.ts > now() - 1 week) > 20",
    "top": "among the top ten by votes",
}

FIGURES = {
    f"{name}: {{delta:,}} new votes after {{annotations:,}}; over all of them": (
        f"{{filters[{name}][incremental_ms]:.0f}} ms; {{filters[{name}][full_ms]:.0f}} ms"
    )
    for name in FILTERS
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--annotations", type=int, default=100_000, help="votes in the table")
    parser.add_argument("--delta", type=int, default=1000, help="new votes in the window")
    parser.add_argument("--repeat", type=int, default=5, help="measured runs of each filter")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the median milliseconds of each filter and of all: over the window, and of all."""
    from tapestry.plan.compile import compile_filter
    from tapestry.query.context import Context
    from tests.bench.support import votes
    from tests.bench.support.evaluation import answer_count, engine_on, match_count

    runs = range(options["repeat"] + 2)
    since, until = votes.fill(services.tables(), options["annotations"], options["delta"])
    engine_on_all = partial(engine_on, snapshot(services.tables()))
    filters: dict[str, dict[str, float | int]] = {}
    for name, text in FILTERS.items():
        plan = compile_filter(text, Context("terry"))
        window = partial(match_count, compiled=plan, since=since, until=until)
        full = partial(answer_count, compiled=plan, at=until)
        filters[name] = {
            "incremental_ms": warm_median_ms(partial(window, engine_on_all()) for _ in runs),
            "full_ms": warm_median_ms(partial(full, engine_on_all()) for _ in runs),
            "matches": window(engine_on_all()),
            "answer": full(engine_on_all()),
        }
    return {
        "annotations": options["annotations"],
        "delta": options["delta"],
        "incremental_ms": round(sum(figures["incremental_ms"] for figures in filters.values()), 1),
        "full_ms": round(sum(figures["full_ms"] for figures in filters.values()), 1),
        "filters": filters,
    }
