"""What every source of mail yields: bytes, and how far one has come with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tapestry.tables.append import Cursor

CursorOf = Callable[[str], Cursor | None]
"""Return how far an origin has been taken in, or None if it never was."""


@dataclass(frozen=True, slots=True)
class Item:
    """One message's bytes; ``cursor``, if any, says that all of ``origin`` up to it is taken.

    ``raw`` is None where there is nothing to take, but the cursor may pass.  ``now``: all up
    to here is appended before the next item is asked for.
    """

    raw: bytes | None
    origin: str = ""
    cursor: Cursor | None = None
    now: bool = False


@dataclass(frozen=True, slots=True)
class MessageStream:
    """Something mail is pulled from, opened; ``total`` counts the items, where it can."""

    name: str
    items: Iterator[Item]
    total: Callable[[], int | None]


class SyncStates(Protocol):
    """What is remembered of a folder or group from one pull to the next, beside the cursor.

    It saves work, or lets one see that a server has numbered anew; losing it loses no mail.
    """

    def load(self, folder: str) -> dict[str, Any]:
        """Return what was remembered last, empty if nothing was."""

    def save(self, folder: str, state: dict[str, Any]) -> None:
        """Remember that instead, at once."""


@dataclass(frozen=True, slots=True)
class InMemorySyncStates:
    """The memory of one process, which ends with it."""

    kept: dict[str, dict[str, Any]] = field(default_factory=dict)

    def load(self, folder: str) -> dict[str, Any]:
        """Return what was remembered last, empty if nothing was."""
        return dict(self.kept.get(folder, {}))

    def save(self, folder: str, state: dict[str, Any]) -> None:
        """Remember that instead."""
        self.kept[folder] = dict(state)


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """A folder or group that a server offers, with the messages in it where it says so."""

    name: str
    messages: int | None = None


class MailSession(Protocol):
    """A connection to a server that has let us in."""

    def list_folders(self, patterns: Sequence[str] = ("*",)) -> list[ListedFolder]:
        """Return the folders that the server lists, by name; of newsgroups, those that match."""

    def expand(self, patterns: Sequence[str]) -> list[str]:
        """Return the names of the folders that names and patterns stand for."""

    def open(
        self, folder: str, audience: str, cursor_of: CursorOf, sync_states: SyncStates
    ) -> MessageStream:
        """Return a folder, its items the messages after its cursor.

        Raises TapestryError if it is not there; reading it, ConnectionLostError.
        """
