"""How long a round takes over many filters, of which a fixed number finds something.

A round is all that the worker does: read the new rows, probe the predicate index, evaluate
the candidate groups, store matches and their cards.  It does not include the append of the new
mail, nor the first run of a filter over existing mail: the filters share one window already.
The same few filters find something, however many there are, and find the same in each round;
the bench checks this, and compares some of them with runs one by one.  A round simulates ten
minutes, so that filters which wait for weeks can be measured now.

Warm: the worker has compiled the filters that find something, as it has when it runs all day.
The medians leave out the first rounds; ``first_tick_seconds`` reports them.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from filters.site.work.parts import services
from tapestry.core.errors import TapestryError
from tests.bench.support import curve, footprint
from tests.bench.support.population import LEAST, Workload

SUMMARY = "a round over up to a million filters of nine signatures, against one by one"

FIGURES = {
    "a round: {filters:,} filters, {fired:,} find something, {messages:,} new, of {archive:,}": (
        "{tick_seconds:.1f} s, the first {first_tick_seconds:.1f} s; {matches:,} matches; "
        "{peak_rss_mb:,} MB of memory"
    ),
    "the same {filters:,} filters, one by one": "{one_by_one_seconds_per_filter:.4f} s each",
    "install a filter, of {filters:,}": "{installs_per_minute:,} a minute",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--filters", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=1000, help="new in each round")
    parser.add_argument("--archive", type=int, default=380_000, help="messages in the table")
    parser.add_argument("--fired", type=int, default=1000, help="filters that find something")
    parser.add_argument("--repeat", type=int, default=5, help="measured rounds")
    parser.add_argument("--warming", type=int, default=2, help="rounds before these, left out")
    parser.add_argument("--alone", type=int, default=90, help="filters that run one by one, too")
    parser.add_argument("--curve", action="store_true", help="also with fewer filters and mail")
    parser.add_argument("--curve-filters", type=int, nargs="*", default=curve.FILTERS)
    parser.add_argument("--curve-messages", type=int, nargs="*", default=curve.MESSAGES)
    parser.add_argument("--svg", metavar="FILE", help="draw the curve")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the median seconds of a warm round, and what runs one by one and installing take."""
    from tapestry.spark import server
    from tests.bench.support.bulk_install import OWNERS
    from tests.bench.support.harness import Harness

    count, messages = options["filters"], options["messages"]
    warming, repeat = options["warming"], options["repeat"]
    if messages < LEAST:
        raise TapestryError(f"A round has {LEAST} messages at least.")
    plan = [(count, messages)]
    if options["curve"]:
        sizes = options["curve_filters"], options["curve_messages"]
        plan = curve.plan(count, messages, *sizes)
    workload = Workload(options["archive"], len(plan) * (warming + repeat))
    if workload.archive < workload.least:
        raise TapestryError(f"The archive has {workload.least} messages at least.")
    run = services.data() / "run"
    run.mkdir(exist_ok=True)
    with server.serving(run, server.JVM_OPTIONS) as remote:
        os.environ["SPARK_REMOTE"] = remote
        harness = Harness(workload, min(options["fired"], count))
        points = [harness.point(installed, new, warming, repeat) for installed, new in plan]
        point = points[-1]
        alone, compared = harness.one_by_one(options["alone"])
        figures = {
            "filters": count,
            "signatures": len(harness.population.templates),
            "messages": messages,
            "tick_seconds": point["tick_seconds"],
            "matches": point["matches"],
            "install_seconds": round(harness.install_seconds, 2),
            "one_by_one_seconds_per_filter": alone,
            "peak_rss_mb": footprint.peak_mb(),
            "tick_cpu_seconds": point["tick_cpu_seconds"],
            "first_tick_seconds": points[0]["first_tick_seconds"],
            "times_cheaper": round(count * alone / point["tick_seconds"]),
            "installs_per_minute": harness.installs_per_minute(2 * options["alone"]),
            "archive": workload.archive,
            "fired": harness.population.hot,
            "owners": OWNERS,
            "compared_one_by_one": compared,
        }
    if options["curve"]:
        figures["curve"] = points
        print(curve.table(points), file=sys.stderr if options["json"] else sys.stdout)
    if options["svg"]:
        curve.draw(points, options["svg"])
    return figures
