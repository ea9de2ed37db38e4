"""Draw charts as pictures that are the same each time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import tostring

Series = Mapping[str, Sequence[float | None]]


def write_svg(chart: Any, path: Path) -> None:
    """Write a chart of pygal without scripts, and without comments, which have the date."""
    root = chart.render_tree()
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == "script" or not isinstance(child.tag, str):
                parent.remove(child)
    path.write_bytes(tostring(root))


def settings(title: str, x_title: str, y_title: str) -> dict[str, Any]:
    """Return how all charts look."""
    from pygal.style import CleanStyle

    return {
        "style": CleanStyle,
        "js": [],
        "no_prefix": True,
        "width": 800,
        "height": 420,
        "legend_at_bottom": True,
        "legend_at_bottom_columns": 1,
        "truncate_legend": -1,
        "title": title,
        "x_title": x_title,
        "y_title": y_title,
    }


def paper_charts(figures: Mapping[str, Any], directory: Path) -> None:
    """Draw the experiments that were measured: one picture for each paper."""
    from pygal.graph.bar import Bar
    from pygal.graph.line import Line

    directory.mkdir(exist_ok=True)
    if "ratios_here" in figures:
        shares = {
            f"newest {share} of the rows, {when}": figures[f"ratios_{when}"][share]
            for share in ("10%", "1%")
            for when in ("1992", "here")
        }
        look = settings("Incremental against full queries", "query", "share of the full")
        bars = Bar(logarithmic=True, **look)
        _fill(bars, ["Q1", "Q2", "Q3", "Q4", "Q5"], shares)
        write_svg(bars, directory / "terry92.svg")
    if "refresh_times" in figures:
        here, there = figures["refresh_times"], figures["refresh_2007"]
        every = sorted(here)
        times = {
            "here": [here[number] for number in every],
            "2007": [there.get(number) for number in every],
        }
        look = settings("Frequency of refresh", "transactions of a refresh", "times a single one")
        refreshes = Line(**look)
        _fill(refreshes, [f"{number:,}" for number in every], times)
        write_svg(refreshes, directory / "oraclecq07.svg")
    if "grouping" in figures:
        grouping, fired = figures["grouping"], figures["fired"]
        installed = sorted(grouping["few"])
        rounds = {
            f"{fired:,} of them fired": [grouping["few"][number] for number in installed],
            "all fired": [grouping["all"].get(number) for number in installed],
            "one by one": [grouping["alone"][number] for number in installed],
        }
        look = settings("Fired against installed", "filters installed", "times the least")
        lines = Line(logarithmic=True, **look)
        _fill(lines, [f"{number:,}" for number in installed], rounds)
        write_svg(lines, directory / "chen00.svg")


def _fill(chart: Any, places: Sequence[str], series: Series) -> None:
    chart.x_labels = places
    if chart.config.logarithmic:
        exponents = [math.log10(one) for numbers in series.values() for one in numbers if one]
        low, high = math.floor(min(exponents)), math.ceil(max(exponents))
        chart.y_labels = [10.0**exponent for exponent in range(low, high + 1)]
    for name, numbers in series.items():
        chart.add(name, numbers)
