"""Sync states: what is known of a folder from one pull to the next, beside its cursor.

A sync state is a JSON object: IMAP's HIGHESTMODSEQ (RFC 7162), by which requests are saved,
Message-IDs that show that a news server has renumbered its articles, and unavailable messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class InMemorySyncStates:
    """Sync states that end with the process."""

    durable = False
    states: dict[str, dict[str, Any]] = field(default_factory=dict)

    def load(self, folder: str) -> dict[str, Any]:
        """Return the state of a folder, empty if none is stored."""
        return dict(self.states.get(folder, {}))

    def save(self, folder: str, state: dict[str, Any]) -> None:
        """Replace the state of a folder."""
        self.states[folder] = dict(state)
