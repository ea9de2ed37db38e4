"""The first look at a folder (initial synchronization): newest first, a backfill downwards.

    numbers    1 … below … newest, when it began │ later ones
               <────── read downwards ────────── │ ── read upwards, and first ──>

A folder is slow to read, so it becomes visible in batches.  Newest first, a reply is visible
before, or with, what it answers: an import invents no silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tapestry.ingest.stream import CursorOf
from tapestry.tables.write.append import Cursor

_SUFFIX = " first look"


@dataclass(frozen=True, slots=True)
class FirstLook:
    """Progress of the first look at a folder: it has read the numbers from ``below`` on.

    Numbers are UIDs or article numbers; ``newest`` is the greatest when it began.  The cursor
    stored under ``origin`` counts the numbers that were read; its content is ``newest``.
    """

    origin: str
    newest: int
    below: int

    @classmethod
    def of(cls, origin: str, cursor_of: CursorOf, newest: Callable[[], int]) -> FirstLook | None:
        """Return the first look at a folder; None if it was read upwards from its start.

        ``newest`` returns the greatest number there is, for a folder that was never read.
        """
        stored = cursor_of(origin + _SUFFIX)
        if stored is not None and stored.content is not None:
            begin = stored.content
            return cls(stored.source, begin, begin + 1 - stored.version)
        if cursor_of(origin) is not None:
            return None
        begin = newest()
        return cls(origin + _SUFFIX, begin, begin + 1)

    @staticmethod
    def last(origin: str, cursor_of: CursorOf, look: FirstLook | None) -> int:
        """Return the number after which messages are new: they are read upwards."""
        stored = cursor_of(origin)
        return stored.version if stored else look.newest if look else 0

    @staticmethod
    def has_begun(origin: str, cursor_of: CursorOf) -> bool:
        """Return whether anything was read of a folder, upwards or downwards."""
        return any(cursor_of(name) is not None for name in (origin, origin + _SUFFIX))

    def cursor(self, number: int) -> Cursor:
        """Return the cursor after the numbers from this one on.

        >>> FirstLook("INBOX first look", 90, 91).cursor(81).version
        10
        """
        return Cursor(self.origin, self.newest + 1 - number, self.newest)

    def at_most_left(self, messages: int) -> int:
        """Return an upper bound of the number of messages that are still to be read."""
        return max(0, min(messages, self.below - 1))
