"""Draw what a world has had least of: so that in few worlds all meets all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

Drawn = TypeVar("Drawn")

TRIES = 16
"""Draws, of which the rarest is taken."""


def rarest(
    used: Counter[Any],
    draw: Callable[[], Drawn],
    marks: Callable[[Drawn], Collection[Any]],
) -> Drawn:
    """Return the one of some draws of which one of its marks was used least, and count its marks.

    >>> used, numbers = Counter({1: 2, 2: 1, 3: 5}), iter([1, 2, 3, 1] * 9)
    >>> rarest(used, lambda: next(numbers), lambda number: (number,)), used[2]
    (2, 2)
    """
    draws = [draw() for _ in range(TRIES)]
    chosen = min(draws, key=lambda drawn: _least(used, marks(drawn)))
    used.update(marks(chosen))
    return chosen


def _least(used: Counter[Any], marks: Iterable[Any]) -> int:
    return min((used[mark] for mark in marks), default=1 << 30)
