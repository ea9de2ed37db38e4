"""A wall clock that a test sets: every module of the application reads it."""

from __future__ import annotations

import pkgutil
import sys
from functools import cache
from importlib import import_module

import pytest

import filters
import tapestry
from tapestry.core import clock


class SetClock:
    """The instant that all modules take for the present, from the beginning of the test on."""

    def __init__(self, now: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = now
        import_all()
        for name, module in list(sys.modules.items()):
            if name.startswith("filters.") and hasattr(module, "wall_clock"):
                monkeypatch.setattr(module, "wall_clock", self.read)
        monkeypatch.setattr(clock, "wall_clock", self.read)

    def read(self) -> int:
        return self.now


@cache
def import_all() -> None:
    """Import every module: one that a test imported first would keep its clock for good."""
    for package in (tapestry, filters):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".migrations." not in module.name:
                import_module(module.name)
