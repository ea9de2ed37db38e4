"""The original bytes of messages that are delivered."""

from __future__ import annotations

from filters.runtime import services
from tapestry.tables.originals import original
from tapestry.tables.read import copies


def original_of(msgid: str, audience: str) -> bytes | None:
    """Return the copy of a message for an audience as it came; None if it was not kept."""
    tables = services.tables()
    for copy in copies(tables, msgid, [audience]):
        stored = original(tables, msgid, copy)
        if stored is not None and stored.raw:
            return stored.raw
    return None
