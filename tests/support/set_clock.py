"""A wall clock that a test sets: every module of the application reads it."""

from __future__ import annotations

import sys

import pytest

from tapestry.core import clock


class SetClock:
    """The instant that all modules take for the present, from the beginning of the test on."""

    def __init__(self, now: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = now
        for name, module in list(sys.modules.items()):
            if name.startswith("filters.") and hasattr(module, "wall_clock"):
                monkeypatch.setattr(module, "wall_clock", self.read)
        monkeypatch.setattr(clock, "wall_clock", self.read)

    def read(self) -> int:
        return self.now
