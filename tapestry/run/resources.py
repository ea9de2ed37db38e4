"""Resources of runs: an engine over the tables, the store of filters, and limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tapestry.core.ports import FilterStore
from tapestry.plan.engine import Engine
from tapestry.predicate_index.store import PredicateIndex
from tapestry.run.lane_limits import LaneLimits
from tapestry.tables.delta.log import Snapshot, Tables

EngineOn = Callable[[Snapshot], Engine]
"""Return an engine that answers statements over a snapshot."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The engine, the tables and the store of a run, and how much it may take."""

    engine_on: EngineOn
    tables: Tables
    store: FilterStore
    limits: LaneLimits = field(default_factory=LaneLimits)

    @property
    def index(self) -> PredicateIndex:
        """The predicate index of the store's part, which is stored beside the tables."""
        return PredicateIndex(self.tables.root, self.store.part)

    def of_part(self, part: int) -> Resources:
        """Return the resources to run another part of the shared window with."""
        return replace(self, store=self.store.of_part(part))
