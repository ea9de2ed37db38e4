"""How far a site of many machines goes, by what is measured on this one: SCALE.md.

What is serial, what it costs, and at which rate of mail it ends; a simulated cluster checks what
is computed.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from dataclasses import asdict, replace
from typing import Any

from filters.site.work.parts import services
from tapestry.spark import server
from tests.bench.support.scale.costs import measure_costs
from tests.bench.support.scale.model import Costs, Site, index_share, limits, loads

SUMMARY = "how much mail a site of many machines takes, computed and simulated: SCALE.md"

FIGURES = {
    "an append holds the clock; for each message more": (
        "{append_ms:.1f} ms; {append_message_ms:.2f} ms"
    ),
    "a window that finds nothing; a message in it; a match": (
        "{window_ms:.0f} ms; {message_ms:.2f} ms; {match_ms:.2f} ms of the processor"
    ),
    "a match in its transaction; to release it": (
        "{commit_match_ms:.3f} ms; {release_match_ms:.3f} ms"
    ),
    "a filter in the predicate index": "{entry_bytes:.0f} bytes of memory",
    "{machines:,} machines, {parts} parts, {together:.0f} messages an append: what ends first": (
        "{first}, at {most:.0f} messages a second; simulated {simulated:.0f}"
    ),
}

GIGABYTE = 2**30

TOGETHER = (1, 10, 100)
"""Messages of an append, for which the limits are told."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--archive", type=int, default=20_000, help="messages in the table")
    parser.add_argument("--filters", default="1000,10000", metavar="N,N", help="that find mail")
    parser.add_argument("--messages", default="500,3000", metavar="N,N", help="new in a round")
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--cores", type=int, default=16, help="of a machine")
    parser.add_argument("--memory", type=float, default=32, help="GB for the index, of a machine")
    parser.add_argument("--parts", type=int, default=100, help="of the shared window")
    parser.add_argument("--period", type=float, default=5, help="seconds from window to window")
    parser.add_argument("--people", type=int, default=10_000_000)
    parser.add_argument("--filters-each", type=int, default=10, help="filters of a person")
    parser.add_argument(
        "--rate", type=float, default=32, help="messages a second: a billion a year"
    )
    parser.add_argument("--together", type=float, default=1, help="messages of an append")
    parser.add_argument("--matches", type=float, default=3, help="of a message")
    parser.add_argument("--seconds", type=float, default=600, help="that are simulated")


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """Return the costs, the load of each part, and what ends first, computed and simulated."""
    from tests.bench.support.scale.cluster import Cluster  # needs what only tests need

    run = services.data() / "run"
    run.mkdir(exist_ok=True)
    few_many = [int(n) for n in options["filters"].split(",")]
    messages = [int(n) for n in options["messages"].split(",")]
    with server.serving(run, server.JVM_OPTIONS) as remote:
        os.environ["SPARK_REMOTE"] = remote
        costs = measure_costs(options["archive"], few_many, messages)
    site = Site(
        machines=options["machines"],
        cores=options["cores"],
        parts=options["parts"],
        period=options["period"],
        rate=options["rate"],
        together=options["together"],
        matches=options["matches"],
        filters=options["people"] * options["filters_each"],
        memory=options["memory"] * GIGABYTE,
    )
    ends = limits(costs, site)
    first, most = next(iter(ends.items()))
    seconds = options["seconds"]
    usual = Cluster(costs, site, seed=1).run(seconds)
    full = Cluster(costs, site.with_rate(1.1 * most), seed=1).run(seconds)
    print(_table(costs, site), file=sys.stderr)
    return {
        **{f"{name}_ms": 1000 * value for name, value in asdict(costs).items()},
        "entry_bytes": costs.entry_bytes,
        "machines": site.machines,
        "parts": site.parts,
        "together": site.together,
        "loads": loads(costs, site),
        "limits": ends,
        "first": first,
        "most": most,
        "index_share": index_share(costs, site),
        "latency_ms": 1000 * usual.median,
        "late_ms": 1000 * usual.late,
        "simulated_usual": usual.throughput,
        "simulated": full.throughput,
    }


def _table(costs: Costs, site: Site) -> str:
    """Return the load of each part, and where it ends, the more messages come in an append."""
    load = loads(costs, site)
    ends = [limits(costs, replace(site, together=together)) for together in TOGETHER]
    rows = [("what", f"load at {site.rate:.0f} a second", *(f"{n} an append" for n in TOGETHER))]
    rows.append(("---",) * len(rows[0]))
    for name in ends[0]:
        rows.append((name, f"{load[name]:.1%}", *(f"{end[name]:,.0f}" for end in ends)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
