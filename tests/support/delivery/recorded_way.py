"""A way of delivery that records what it is given, and answers what the test wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from filters.delivery.ways.table import WAYS
from filters.delivery.ways.way import Preview
from tapestry.deliver.batch import Batch, Outcome

if TYPE_CHECKING:
    from filters.delivery.models import Destination
    from filters.inbox.models import Match

Store = Callable[..., "Match"]
"""Stores a match of a filter, with its card."""

MakeDestination = Callable[..., "Destination"]
"""Makes a destination of a kind."""


def change_way(monkeypatch: pytest.MonkeyPatch, kind: str, **changes: Any) -> None:
    """Declare a way otherwise during a test."""
    monkeypatch.setitem(WAYS, kind, replace(WAYS[kind], **changes))


class Recorder:
    """The batches of a way, and the outcome of the next."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.outcome = Outcome("delivered", "fine")

    def send(self, destination: Destination, batch: Batch) -> Outcome:
        self.batches.append(batch)
        return self.outcome

    def preview(self, destination: Destination, batch: Batch) -> Preview:
        return Preview("text", f"{len(batch.matches)} for {destination}")

    @property
    def delivered(self) -> list[tuple[str, str]]:
        return [(match.op, match.msgid) for batch in self.batches for match in batch.matches]
