"""Measurements, one file each: `manage.py bench NAME`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from filters.bench import (
    aggregating,
    compiling,
    grouping,
    ingesting,
    looking_up,
    running_on,
    starting,
    ticking,
)

Figures = dict[str, float | int | str]


@dataclass(frozen=True, slots=True)
class Bench:
    """A measurement: its options, and the function that makes its figures."""

    says: str
    add_arguments: Callable[[ArgumentParser], None]
    measure: Callable[[Mapping[str, Any]], Figures]


BENCHES = {
    "aggregates": Bench(aggregating.SAYS, aggregating.add_arguments, aggregating.measure),
    "compile": Bench(compiling.SAYS, compiling.add_arguments, compiling.measure),
    "groups": Bench(grouping.SAYS, grouping.add_arguments, grouping.measure),
    "incremental": Bench(running_on.SAYS, running_on.add_arguments, running_on.measure),
    "ingest": Bench(ingesting.SAYS, ingesting.add_arguments, ingesting.measure),
    "lookup": Bench(looking_up.SAYS, looking_up.add_arguments, looking_up.measure),
    "tick": Bench(ticking.SAYS, ticking.add_arguments, ticking.measure),
    "start": Bench(starting.SAYS, starting.add_arguments, starting.measure),
}
"""By the name that `manage.py bench` takes."""
