"""The queries Q1 to Q5 of [Terry92 §6.2] over windows of any size, against the full query.

With ``--kinds``, a filter of each kind of construct instead, over the new messages alone.

Measures a query over the whole table (Q), its incremental form (Q_I) over the newest 100, 10
and 1 percent, and over a fixed number of new messages.  The time of the last must not grow with
the table.  Compare figures 5, 6 and 9 of [Terry92].
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from typing import Any

from filters.site.work.parts import services
from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.tables.delta.log import snapshot
from tests.bench.support import mail
from tests.bench.support.footprint import cpu_timed
from tests.bench.support.texts import KINDS, PAPER
from tests.bench.support.timing import median_ms, timed

SUMMARY = "the paper's queries Q1 to Q5 over windows of any size, against the full query"

WINDOWS = {
    "{delta} new messages": "[incremental_ms][delta]",
    "newest 1 percent": "[incremental_ms][1%]",
    "newest 10 percent": "[incremental_ms][10%]",
    "100 percent": "[incremental_ms][100%]",
    "plain query over everything": "[full_ms]",
}

FIGURES = {
    f"Q1 to Q5: {window}, of {{messages:,}}": (
        ", ".join(f"{{queries[Q{number}]{key}:.0f}}" for number in range(1, 6)) + " ms"
    )
    for window, key in WINDOWS.items()
} | {
    f"{kind}: {{delta}} new messages, of {{messages:,}}": f"{{kinds[{kind}]:.0f}} ms"
    for kind in KINDS
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--messages", type=int, default=380_000, help="in the table")
    parser.add_argument("--delta", type=int, default=500, help="new messages of the last window")
    parser.add_argument("--repeat", type=int, default=5, help="measured runs of each window")
    parser.add_argument("--queries", default="Q1,Q2,Q3,Q4,Q5", help="some of them")
    parser.add_argument("--kinds", action="store_true", help="filters of each kind of construct")
    parser.add_argument("--only-delta", action="store_true", help="leave out the larger windows")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the median milliseconds of each query: in full, and over each window."""
    from tapestry.embedded.engine import EmbeddedEngine
    from tapestry.plan.compile import compile_filter
    from tapestry.query.context import Context
    from tapestry.spark.engine import SparkEngine
    from tapestry.spark.session import LOCAL, connect
    from tests.bench.support.evaluation import answer_count, match_count

    count, delta, repeat = options["messages"], options["delta"], options["repeat"]
    mail.fill(services.tables(), count, delta)
    until = mail.arrival(count - 1)
    windows = {"delta": mail.arrival(count - delta - 1)}
    if not options["only_delta"]:
        windows |= {
            "1%": mail.arrival(count - count // 100 - 1),
            "10%": mail.arrival(count - count // 10 - 1),
            "100%": BEGINNING,
        }
    session = connect(LOCAL)
    kinds: dict[str, float] = {}
    names = options["queries"].upper().split(",")
    plans = {name: compile_filter(PAPER[name.lower()], Context()) for name in names}
    queries: dict[str, Any] = {
        name: {"full_ms": None, "incremental_ms": {}, "answer": None, "matches": {}}
        for name in names
    }

    def engine_on_all() -> EmbeddedEngine:
        spark = SparkEngine(session, snapshot(services.tables()))
        spark.most_rows = max(spark.most_rows, count)
        return EmbeddedEngine(spark.local_rows, lambda: spark)

    def window(name: str, since: int) -> int:
        return match_count(engine_on_all(), plans[name], since, until)

    def full(name: str) -> int:
        return answer_count(engine_on_all(), plans[name], until)

    if options["kinds"]:
        for kind, text in KINDS.items():
            plans[kind] = compile_filter(text, Context())
            run = partial(window, kind, windows["delta"])
            run()
            kinds[kind] = 1000 * min(cpu_timed(run)[0] for _ in range(repeat))
            print(f"{kind}: {kinds[kind]:.0f} ms of the processor", file=sys.stderr, flush=True)
        return {"messages": count, "delta": delta, "kinds": kinds}
    # The small windows first, so that they are measured even if Spark cannot run the others.
    for label, since in windows.items():
        for name in names:
            runs = repeat if label == "delta" else 0
            milliseconds, matches = _median_ms(partial(window, name, since), runs)
            queries[name]["incremental_ms"][label] = milliseconds
            queries[name]["matches"][label] = matches
            print(f"{name}, {label}: {milliseconds} ms, {matches}", file=sys.stderr, flush=True)
    for name in names if not options["only_delta"] else ():
        queries[name]["full_ms"], queries[name]["answer"] = _median_ms(partial(full, name), 0)
    return {"messages": count, "delta": delta, "queries": queries}


def _median_ms(run: Callable[[], int], repeat: int) -> tuple[float | None, int | None]:
    """Return the median milliseconds of warm runs, or those of the first, and its matches.

    Both are None if the run is too much for Spark.
    """
    try:
        first, matches = timed(run)
    except TapestryError as error:
        print(error.message, file=sys.stderr, flush=True)
        return None, None
    return median_ms([timed(run)[0] for _ in range(repeat)] or [first]), matches
