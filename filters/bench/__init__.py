"""Measurements, one file each: `manage.py bench NAME`.  A file has the name of its command.

Each has ``SUMMARY``, ``FIGURES`` (templates for FIGURES.md: what was measured, and how much),
``add_arguments``, and ``measure``, which returns the figures by name.
"""

from __future__ import annotations

from types import ModuleType

from filters.bench import (
    aggregates,
    append,
    compile,
    fairness,
    groups,
    idle,
    incremental,
    ingest,
    lookup,
    phrases,
    start,
    tick,
)

BENCHES: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        aggregates,
        append,
        compile,
        fairness,
        groups,
        idle,
        incremental,
        ingest,
        lookup,
        phrases,
        start,
        tick,
    )
}
"""By the name that `manage.py bench` takes."""
