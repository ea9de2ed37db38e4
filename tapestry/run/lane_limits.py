"""Limits of what a run of each lane may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """Seconds that a run of each lane may take, and what else bounds it.

    ``light``: what takes no longer is proven.  ``most_rows`` are new in one shared window;
    ``halvings`` is how often an unproven window is halved, or that with which a live filter begins
    tried again, before its filter is set aside.
    """

    shared: float = 40.0
    own: float = 20.0
    joining: float = 5.0
    unproven: float = 30.0
    light: float = 3.0
    most_rows: int = 5000
    halvings: int = 4
