"""The messages that are delivered, as they came."""

from __future__ import annotations

from filters.runtime import services
from tapestry.tables.originals import Original, original
from tapestry.tables.read import copies


def original_of(msgid: str, audience: str) -> Original | None:
    """Return the copy of a message for an audience as it came; None if it was not kept."""
    tables = services.tables()
    for copy in copies(tables, msgid, [audience]):
        stored = original(tables, msgid, copy)
        if stored is not None and stored.raw:
            return stored
    return None


def raw_of(msgid: str, audience: str) -> bytes | None:
    """Return the bytes of the copy of a message for an audience; None if they were not kept."""
    stored = original_of(msgid, audience)
    return stored.raw if stored else None
