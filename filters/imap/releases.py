"""What is shown to anybody: by it, programs that wait learn soon that they may look."""

from __future__ import annotations

from time import monotonic

from filters.imap.threads import in_thread
from filters.runs.models import ReleaseCounter

LOOK = 0.25
"""Seconds between two readings of the sequence."""


class Releases:
    """The last position of the release sequence, read once for all who wait."""

    def __init__(self) -> None:
        self._read_at, self._position = 0.0, 0

    async def position(self) -> int:
        """Return it as of the last LOOK seconds."""
        if monotonic() - self._read_at >= LOOK:
            self._read_at = monotonic()
            self._position = await in_thread(ReleaseCounter.position)
        return self._position
