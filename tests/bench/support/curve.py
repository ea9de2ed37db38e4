"""The curve of time against filters and new messages: its points, as a table and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.support.drawing import settings, write_svg

FILTERS = (1000, 10_000, 100_000, 1_000_000)
MESSAGES = (100, 1000, 10_000)
MIDDLE = 100_000
"""Filters while the number of messages varies, or fewer."""


def plan(
    filters: int,
    messages: int,
    fewer: Sequence[int] = FILTERS,
    other_mail: Sequence[int] = MESSAGES,
) -> list[tuple[int, int]]:
    """Return the (filters, messages) to measure, the filters never fewer; both given come last.

    >>> plan(10_000, 1000)
    [(1000, 1000), (10000, 100), (10000, 10000), (10000, 1000)]
    """
    middle = min(MIDDLE, filters)
    sizes = {(count, messages) for count in (*fewer, middle) if count < filters}
    sizes |= {(middle, count) for count in other_mail}
    return [*sorted(sizes - {(filters, messages)}), (filters, messages)]


def table(points: Sequence[Mapping[str, Any]]) -> str:
    """Return the points as lines: filters, messages, seconds, processor seconds, matches."""
    columns = ("filters", "messages", "tick_seconds", "tick_cpu_seconds", "matches")
    lines = ["".join(f"{name:>18}" for name in columns)]
    lines += ["".join(f"{point[name]:>18,}" for name in columns) for point in points]
    return "\n".join(lines)


def draw(points: Sequence[Mapping[str, Any]], path: str) -> None:
    """Draw seconds a round against both numbers, on one logarithmic scale."""
    from pygal.graph.line import Line

    filters, messages = points[-1]["filters"], points[-1]["messages"]
    middle = min(MIDDLE, filters)
    by_filters = {p["filters"]: p["tick_seconds"] for p in points if p["messages"] == messages}
    by_messages = {p["messages"]: p["tick_seconds"] for p in points if p["filters"] == middle}
    places = sorted({*by_filters, *by_messages})
    look = settings("A round over many filters", "filters, or new messages", "seconds a round")
    chart = Line(include_x_axis=True, **look)
    chart.x_labels = [f"{place:,}" for place in places]
    chart.add(f"filters, {messages:,} new messages", [by_filters.get(n) for n in places])
    chart.add(f"new messages, {middle:,} filters", [by_messages.get(n) for n in places])
    write_svg(chart, Path(path))
