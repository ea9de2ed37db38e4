"""Unavailable messages: those that a server lists and does not deliver (a dead letter queue).

Some servers answer NO (RFC 5530: UNAVAILABLE), or drop the connection, whenever a message that
they cannot read is fetched.  It would block all messages after it.  So it is put aside, the
cursor goes on, and it is fetched again later with exponential backoff.  So is a message that this
program cannot append.  This module decides, and neither reads a clock nor stores anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tapestry.core.backoff import pause_after

MOST_LOSSES = 3
"""Times that the connection may be lost over one message before it is put aside."""

ASK_AGAIN, LONGEST_PAUSE = 60.0, 24 * 3600.0
"""Seconds before a message is fetched again, the first time and at most."""

MOST = 1000
"""Messages of a folder that can be put aside; after that the folder waits for them."""

IN_A_ROW = 20
"""Unavailable messages in a row that show a fault of the server, not of the messages."""

STATE = "withheld"
"""The key under which the messages are stored in the folder's sync state."""


def has_unavailable(sync_state: dict[str, Any]) -> bool:
    """Return whether a folder has messages to fetch again, by its sync state."""
    return unavailable_in(sync_state) > 0


def unavailable_in(sync_state: dict[str, Any]) -> int:
    """Return how many messages of a folder are to be fetched again, by its sync state."""
    return len(sync_state.get(STATE, {}).get("missing", ()))


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The unavailable messages of a folder, by UID or article number, as they are stored.

    Numbers mean the same messages for one ``numbering`` (UIDVALIDITY for IMAP).  ``trouble``: the
    first and last number that were fetched when the connection was lost, and the number of losses
    if that was one message; ``missing``: for each number how often it was fetched and when it is
    due again, in seconds of the epoch; ``in_a_row``: how many were put aside since a message came
    or one was fetched again; ``through``: the last number of this process, where the cursor stays
    before the first missing message.
    """

    numbering: int
    trouble: tuple[int, int, int] | None = None
    missing: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    in_a_row: int = 0
    through: int = 0

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Unavailable:
        """Return the messages as ``stored`` by ``content``."""
        trouble = stored["trouble"] and tuple(stored["trouble"])
        return cls(**stored | {"trouble": trouble})

    def content(self) -> dict[str, Any]:
        """Return what is stored, as JSON has it."""
        return asdict(self)

    def __contains__(self, number: int) -> bool:
        """Return whether this message was put aside."""
        return str(number) in self.missing

    @property
    def is_full(self) -> bool:
        """Tell whether no other message can be put aside before one of these comes."""
        return len(self.missing) >= MOST or self.in_a_row >= IN_A_ROW

    def in_trouble(self, number: int) -> bool:
        """Return whether the connection was lost over this message, by itself or in a batch."""
        return self.trouble is not None and self.trouble[0] <= number <= self.trouble[1]

    def is_hopeless(self, number: int) -> bool:
        """Return whether the connection was lost too often over this message.

        >>> state = Unavailable(1, trouble=(7, 7, MOST_LOSSES))
        >>> state.is_hopeless(7), state.is_hopeless(8)
        (True, False)
        """
        trouble = self.trouble
        return trouble is not None and trouble[:2] == (number, number) and trouble[2] >= MOST_LOSSES

    def due(self, now: float) -> list[int]:
        """Return the messages that are to be fetched again."""
        return [int(number) for number, (_, due_at) in self.missing.items() if due_at <= now]

    def after_loss(self, first: int, last: int) -> Unavailable:
        """Return the state after the connection was lost while these were fetched."""
        losses = self.trouble[2] if self.trouble and self.trouble[:2] == (first, last) else 0
        return replace(self, trouble=(first, last, losses + 1 if first == last else 0))

    def with_missing(self, number: int, now: float) -> Unavailable:
        """Return the state with one more message, which is due a while after ``now``."""
        return replace(self, missing={**self.missing, str(number): (1, now + ASK_AGAIN)})

    def after_refusal(self, number: int, now: float) -> Unavailable:
        """Return the state after the server has not delivered a new message."""
        return replace(self.with_missing(number, now), trouble=None, in_a_row=self.in_a_row + 1)

    def after_retry(self, number: int, now: float) -> Unavailable:
        """Return the state as a message is fetched again: it is due later, unless it comes."""
        times = self.missing[str(number)][0] + 1
        due_at = now + pause_after(times, ASK_AGAIN, LONGEST_PAUSE)
        return replace(self, missing={**self.missing, str(number): (times, due_at)}, in_a_row=0)

    def without(self, number: int) -> Unavailable:
        """Return the state without a message that came, or that is gone from the server."""
        left = {name: tried for name, tried in self.missing.items() if name != str(number)}
        return replace(self, missing=left)
