"""Measurements, one file each: `manage.py bench NAME`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from filters.bench import aggregates, compile, groups, incremental, ingest, lookup, start, tick

Figures = dict[str, float | int | str]


@dataclass(frozen=True, slots=True)
class Bench:
    """A measurement: its options, and the function that makes its figures."""

    summary: str
    add_arguments: Callable[[ArgumentParser], None]
    measure: Callable[[Mapping[str, Any]], Figures]


BENCHES = {
    "aggregates": Bench(aggregates.SUMMARY, aggregates.add_arguments, aggregates.measure),
    "compile": Bench(compile.SUMMARY, compile.add_arguments, compile.measure),
    "groups": Bench(groups.SUMMARY, groups.add_arguments, groups.measure),
    "incremental": Bench(incremental.SUMMARY, incremental.add_arguments, incremental.measure),
    "ingest": Bench(ingest.SUMMARY, ingest.add_arguments, ingest.measure),
    "lookup": Bench(lookup.SUMMARY, lookup.add_arguments, lookup.measure),
    "tick": Bench(tick.SUMMARY, tick.add_arguments, tick.measure),
    "start": Bench(start.SUMMARY, start.add_arguments, start.measure),
}
"""By the name that `manage.py bench` takes."""
