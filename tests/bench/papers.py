"""The experiments of the papers, by the benches that measure them, with the papers' own numbers.

- [Terry92, figures 5 and 6]: an incremental query against the full one, by the share of new data;
- [OracleCQ07] Frequency of Refresh: the same changes in more or fewer refreshes;
- [Chen00, figures 5.3 and 5.4]: queries fired against queries installed, grouped or one by one.

Times are ratios: the machines of 1992, 2000 and 2007 are gone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tapestry.core.errors import TapestryError
from tests.bench.support.drawing import paper_charts

SUMMARY = "the experiments of the papers, and pictures of them"

PICTURES = Path(__file__).parent / "figures"

QUERIES = ("Q1", "Q2", "Q3", "Q4", "Q5")
SHARES = ("100%", "10%", "1%")

SECONDS_1992 = {
    "Q1": (2.8, 123.8, 4.2, 0.086),
    "Q2": (138.0, 139.3, 5.7, 0.18),
    "Q3": (10.6, 619.0, 9.1, 0.60),
    "Q4": (9405.2, 13105.4, 2118.7, 1373.5),
    "Q5": (819.0, 1268.7, 158.3, 9.6),
}
"""Seconds of the full query, and of the incremental one over 100, 10 and 1 percent.

[Terry92, figure 5]; Q3 and Q5 by figure 6, with a single comparison of a timestamp.
"""

TIMES_2007 = {10: 35.0}
"""Times a single refresh, by the transactions of a refresh [OracleCQ07, Frequency of Refresh]."""

FIGURES = {
    f"[Terry92]: newest {share} against the full query, Q1 to Q5; in 1992, of 380,000": (
        f"{{shares_here[{share}]}}; {{shares_1992[{share}]}}"
    )
    for share in SHARES
} | {
    "[OracleCQ07]: refreshed every 10 transactions, every 100, against once; in 2007": (
        "{refresh_here}; 35 times, little"
    ),
    "[Chen00]: {fired:,} fired, {installed:,} installed against {fewest:,}": (
        "{installed_ratio:.1f} times as long"
    ),
    "[Chen00]: all fired, {installed:,} against {fewest:,}; these one by one": (
        "{fired_ratio:.1f} times as long; {alone_ratio:.0f} times as long"
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--only", default="terry92,oraclecq07,chen00", help="some of the papers")
    parser.add_argument("--messages", type=int, default=100_000, help="of 1992 and 2007")
    parser.add_argument("--transactions", type=int, default=2000, help="of 2007")
    parser.add_argument("--filters", type=int, default=10_000, help="of 2000, and a tenth of them")
    parser.add_argument("--fired", type=int, default=1000, help="of 2000")
    parser.add_argument(
        "--svg", type=Path, metavar="DIR", nargs="?", const=PICTURES, help="draw them"
    )


def measure(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return ratios of each experiment; draw them if that is asked for."""
    figures: dict[str, Any] = {}
    for name in options["only"].split(","):
        if name not in EXPERIMENTS:
            raise TapestryError(f"There is no {name!r}.", hint=f"Try {', '.join(EXPERIMENTS)}.")
        figures |= EXPERIMENTS[name](options)
    if options["svg"]:
        paper_charts(figures, options["svg"])
    return figures


def _terry92(options: Mapping[str, Any]) -> dict[str, Any]:
    queries = _bench("incremental", "--messages", options["messages"])["queries"]
    here = {
        name: [queries[name]["full_ms"]]
        + [queries[name]["incremental_ms"][share] for share in SHARES]
        for name in QUERIES
    }
    figures: dict[str, Any] = {}
    for when, times in (("here", here), ("1992", SECONDS_1992)):
        ratios = {
            share: [times[name][place] / times[name][0] for name in QUERIES]
            for place, share in enumerate(SHARES, 1)
        }
        figures[f"ratios_{when}"] = ratios
        figures[f"shares_{when}"] = {
            share: ", ".join(_percent(ratio) for ratio in values) + " %"
            for share, values in ratios.items()
        }
    return figures


def _percent(ratio: float) -> str:
    """Return a ratio in percent, small ones in more detail.

    >>> _percent(44.21), _percent(0.0013)
    ('4,421', '0.13')
    """
    return f"{100 * ratio:,.0f}" if ratio >= 0.1 else f"{100 * ratio:.2g}"


def _oraclecq07(options: Mapping[str, Any]) -> dict[str, Any]:
    sizes = ("--messages", options["messages"], "--transactions", options["transactions"])
    refresh = _bench("refresh", *sizes)
    times = dict(zip(refresh["every"], refresh["ratios"], strict=True))
    shown = ", ".join(f"{times[every]:.1f} times" for every in (10, 100) if every in times)
    return {"refresh_times": times, "refresh_2007": TIMES_2007, "refresh_here": shown}


def _chen00(options: Mapping[str, Any]) -> dict[str, Any]:
    count, fired = options["filters"], options["fired"]
    sizes = [count // 10, count // 3]
    curve = ("--curve", "--curve-messages", "--curve-filters", *sizes)
    given = ("--filters", count, "--archive", 38_000, "--repeat", 3, "--alone", 18)
    all_fired = _bench("groups", *given, "--fired", count, *curve)
    few_fired = _bench("groups", *given, "--fired", fired, *curve)
    alone = all_fired["one_by_one_seconds_per_filter"]
    seconds = {
        what: {point["filters"]: point["tick_seconds"] for point in result["curve"]}
        for what, result in (("all", all_fired), ("few", few_fired))
    }
    least = seconds["few"][sizes[0]]
    return {
        "installed": count,
        "fewest": sizes[0],
        "fired": fired,
        "grouping": {
            "all": {n: wall / least for n, wall in seconds["all"].items()},
            "few": {n: wall / least for n, wall in seconds["few"].items()},
            "alone": {n: n * alone / least for n in seconds["all"]},
        },
        "installed_ratio": seconds["few"][count] / least,
        "fired_ratio": seconds["all"][count] / seconds["all"][sizes[0]],
        "alone_ratio": count * alone / seconds["all"][count],
    }


EXPERIMENTS = {"terry92": _terry92, "oraclecq07": _oraclecq07, "chen00": _chen00}


def _bench(name: str, *arguments: object) -> dict[str, Any]:
    """Run another bench on data of its own; return its figures."""
    command = [sys.executable, "manage.py", "bench", name, "--json", *map(str, arguments)]
    environment = {key: value for key, value in os.environ.items() if key != "TAPESTRY_BENCH"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise TapestryError(f"{' '.join(command[2:])} has failed.")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
