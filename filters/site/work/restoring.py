"""The file by which a data directory shows that a restore into it has not ended."""

from __future__ import annotations

from pathlib import Path

from tapestry.core.errors import TapestryError

LATER = "later.json"
"""What a backup has beside its database (filters.upkeep.later); it goes when all is restored."""


def check_restored(data: Path) -> None:
    """Raise TapestryError if a restore into a data directory was cut short."""
    if (data / LATER).exists():
        raise TapestryError(
            f"A restore into {data} was cut short.",
            hint="Empty the directory, with PostgreSQL the database too, and restore again.",
        )
