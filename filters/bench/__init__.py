"""Measurements, one file each: `manage.py bench NAME`.  A file has the name of its command."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from filters.bench import aggregates, compile, groups, incremental, ingest, lookup, start, tick

Figures = dict[str, float | int | str]


class Bench(Protocol):
    """A measurement: its options, the function that measures, and the rows to record."""

    SUMMARY: str
    FIGURES: Mapping[str, str]
    """Templates for FIGURES.md: what was measured, and how much."""
    add_arguments: Callable[[ArgumentParser], None]
    measure: Callable[[Mapping[str, Any]], Figures]


BENCHES: dict[str, Bench] = {
    module.__name__.rpartition(".")[2]: cast(Bench, module)
    for module in (aggregates, compile, groups, incremental, ingest, lookup, start, tick)
}
"""By the name that `manage.py bench` takes."""
