"""How long a round takes over many filters, of which a fixed number finds something.

Measured is all of a round, as the worker runs it: reading what is new, waking, evaluating,
handing out, storing matches and their cards.  Appending the new mail is not part of it.  The
filters stand as after their first run, joined; what that first run over existing mail takes
is not measured.  Those that find something are the same few however many there are, and find
the same in each round; that they do is checked, as are the matches of some of them against
runs one by one.  Time passes as the rounds say, ten minutes a round, so that filters which
wait for weeks can be measured now.

Warm means that the worker has compiled the filters that find something before, as it has when
it runs all day; the first rounds, left out of the medians, are reported as ``first_s``.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from filters.bench import curve, footprint
from filters.bench.crowd import LEAST, World
from filters.bench.entering import OWNERS
from filters.bench.standing import Standing

SAYS = "a round over up to a million filters of nine signatures, against one by one"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the sizes, --warming, --repeat, --alone, --curve and --svg."""
    parser.add_argument("--filters", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=1000, help="new in each round")
    parser.add_argument("--archive", type=int, default=380_000, help="messages in the table")
    parser.add_argument("--fired", type=int, default=1000, help="filters that find something")
    parser.add_argument("--repeat", type=int, default=5, help="measured rounds")
    parser.add_argument("--warming", type=int, default=2, help="rounds before these, left out")
    parser.add_argument("--alone", type=int, default=90, help="filters that run one by one, too")
    parser.add_argument("--curve", action="store_true", help="also with fewer filters and mail")
    parser.add_argument("--svg", metavar="FILE", help="draw the curve")


def measure(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the median seconds of a warm round, and what one by one and entering take."""
    from filters.runtime import services
    from tapestry.core.errors import TapestryError
    from tapestry.spark import server

    count, messages = options["filters"], options["messages"]
    warming, repeat = options["warming"], options["repeat"]
    if messages < LEAST:
        raise TapestryError(f"A round has {LEAST} messages at least.")
    plan = curve.plan(count, messages) if options["curve"] else [(count, messages)]
    world = World(options["archive"], len(plan) * (warming + repeat))
    if world.archive < world.least:
        raise TapestryError(f"The archive has {world.least} messages at least.")
    run = services.data() / "run"
    run.mkdir()
    with server.serving(run) as remote:
        os.environ["SPARK_REMOTE"] = remote
        standing = Standing(world, min(options["fired"], count))
        points = [standing.point(some, new, warming, repeat) for some, new in plan]
        point = next(one for one in points if (one["filters"], one["messages"]) == plan[-1])
        alone, compared = standing.one_by_one(options["alone"])
        figures = {
            "filters": count,
            "signatures": len(standing.crowd.moulds),
            "messages": messages,
            "tick_seconds": point["tick_seconds"],
            "matches": point["matches"],
            "install_seconds": round(standing.entering, 2),
            "one_by_one_seconds_per_filter": alone,
            "peak_rss_mb": footprint.peak_mb(),
            "tick_cpu_seconds": point["tick_cpu_seconds"],
            "first_tick_seconds": points[0]["first_tick_seconds"],
            "times_cheaper": round(count * alone / point["tick_seconds"]),
            "installs_per_minute": standing.installs_per_minute(2 * options["alone"]),
            "archive": world.archive,
            "fired": standing.crowd.hot,
            "owners": OWNERS,
            "compared_one_by_one": compared,
        }
    if options["curve"]:
        figures["curve"] = points
        print(curve.table(points), file=sys.stderr if options["json"] else sys.stdout)
    if options["svg"]:
        curve.draw(points, options["svg"])
    return figures
