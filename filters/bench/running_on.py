"""The paper's tables: queries Q1 to Q5 over windows of any size, against asking anew.

Figures 5, 6 and 9 of "Continuous Queries over Append-Only Databases": a query over everything
(Q), its incremental form over the newest 100, 10 and 1 percent, and over a fixed number of new
messages, for which the time must not grow with the table.
"""

from __future__ import annotations

import statistics
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from filters.bench.texts import PAPER

SAYS = "the paper's queries Q1 to Q5 over windows of any size, against asking anew"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare --messages, --delta, --repeat, --queries and --only-delta."""
    parser.add_argument("--messages", type=int, default=380_000, help="in the table")
    parser.add_argument("--delta", type=int, default=500, help="new messages of the last window")
    parser.add_argument("--repeat", type=int, default=5, help="measured runs of each window")
    parser.add_argument("--queries", default="Q1,Q2,Q3,Q4,Q5", help="some of them")
    parser.add_argument("--only-delta", action="store_true", help="leave out the larger windows")


def measure(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the median milliseconds of each query: in full, and over each window."""
    from filters import parts
    from filters.bench import mail
    from tapestry.core.clock import BEGINNING
    from tapestry.plan.compile import compile_filter
    from tapestry.plan.lower import lower_at
    from tapestry.query.context import Context
    from tapestry.run import answer as answering
    from tapestry.run.execute import Subscription, execute, groups
    from tapestry.run.spark import LOCAL, SparkEngine, connect
    from tapestry.tables.log import snapshot

    count, delta, repeat = options["messages"], options["delta"], options["repeat"]
    mail.fill(parts.tables(), count, delta)
    until = mail.arrival(count - 1)
    windows = {"delta": mail.arrival(count - delta - 1)}
    if not options["only_delta"]:
        windows |= {
            "1%": mail.arrival(count - count // 100 - 1),
            "10%": mail.arrival(count - count // 10 - 1),
            "100%": BEGINNING,
        }
    session = connect(LOCAL)
    queries: dict[str, Any] = {}
    for name in options["queries"].lower().split(","):
        plan = compile_filter(PAPER[name], Context())

        def window(since: int, plan: Any = plan) -> int:
            engine = SparkEngine(session, snapshot(parts.tables()))
            asked = [Subscription(1, plan, ("public",), since)]
            return len(execute(engine, asked, until, lambda pairs: set()))

        def full(plan: Any = plan) -> int:
            engine = SparkEngine(session, snapshot(parts.tables()))
            asked = Subscription(1, plan, ("public",), BEGINNING)
            return len(answering.answer(engine, lower_at(groups([(asked, until)]), until)))

        incremental, matches = {}, {}
        for label, since in windows.items():
            runs = repeat if label == "delta" else 0
            incremental[label], matches[label] = _median(partial(window, since), runs)
        print(f"{name.upper()}: {incremental} ms", file=sys.stderr, flush=True)
        queries[name.upper()] = {"incremental_ms": incremental, "matches": matches}
        if not options["only_delta"]:
            milliseconds, answer = _median(full, 0)
            queries[name.upper()] |= {"full_ms": milliseconds, "answer": answer}
    return {"messages": count, "delta": delta, "queries": queries}


def _median(run: Callable[[], int], repeat: int) -> tuple[float, int]:
    """Return the median milliseconds of some warm runs, or of the first, and what it found."""
    begun = time.perf_counter()
    found = run()
    seconds = [] if repeat else [time.perf_counter() - begun]
    for _ in range(repeat):
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return round(1000 * statistics.median(seconds), 1), found
