"""Faults of address books and calendars that are read from servers."""

from __future__ import annotations

from tests.simulation.plants.plant import Plant

PLANTS = (
    Plant(
        "what a card says no more stays",
        "filters.sources.pull.resources",
        "_Collection._store",
        "if entry not in entries}",
        "if not entries}",
        "address books",
    ),
    Plant(
        "a card that is gone stays in the book",
        "filters.sources.pull.resources",
        "_Collection._is_complete",
        "_drop(self.source, folder.resources.filter(href__in=urls))",
        "folder.resources.filter(href__in=urls).delete()",
        "address books",
    ),
    Plant(
        "a meeting that is called off stays",
        "filters.sources.pull.resources",
        "_take_back",
        "if starts is None or starts > now",
        "if starts is None",
        "address books",
    ),
)
