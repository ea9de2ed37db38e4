"""All planted faults, by name."""

from __future__ import annotations

from tests.simulation.plants import (
    acting,
    books,
    limiting,
    listing,
    mailing,
    programs,
    running,
    sending,
    showing,
    storing,
)
from tests.simulation.plants.plant import Plant

PLANTS: dict[str, Plant] = {
    planted.name: planted
    for planted in (
        *sending.PLANTS,
        *mailing.PLANTS,
        *showing.PLANTS,
        *listing.PLANTS,
        *storing.PLANTS,
        *running.PLANTS,
        *acting.PLANTS,
        *programs.PLANTS,
        *books.PLANTS,
        *limiting.PLANTS,
    )
}
