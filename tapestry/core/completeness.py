"""The clock of a filter that waits for its sources: up to when all of their mail was here.

It is what tau-union waits for: the least time of its inputs [Law11 §7.1].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tapestry.core.clock import BEGINNING, NEVER

Step = tuple[int, int]
"""An instant, and up to when all sources were complete from then on; NEVER where none counts."""

Piece = tuple[int, int, int, int]
"""A window (since, until] in which W(t) = min(t, W(until)), with W(since) and W(until)."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """W(t), which stands for ``now()``: the earliest "complete up to" of the sources at t.

    ``steps`` are in order, and neither of their columns falls.  Before the first, and where no
    source counts, W(t) = t.  It is ``floor`` at least.  ``at_start`` is W(T0), None if that is T0.
    """

    steps: tuple[Step, ...] = ()
    floor: int = BEGINNING
    at_start: int | None = None

    def at(self, t: int) -> int:
        """Return W(t), for a ``t`` that is not before ``floor``.

        >>> waits = Completeness(((10, 8), (20, 17)))
        >>> [waits.at(t) for t in (5, 9, 10, 19, 20)]
        [5, 9, 8, 8, 17]
        """
        upto = next((upto for ts, upto in reversed(self.steps) if ts <= t), NEVER)
        return max(self.floor, min(t, upto))

    def pieces(self, since: int, until: int) -> Iterator[Piece]:
        """Yield the window (since, until] in pieces that end where W steps.

        >>> list(Completeness(((10, 8), (20, 17))).pieces(12, 30))
        [(12, 19, 8, 8), (19, 30, 8, 17)]
        """
        steps = (ts - 1 for ts, _ in self.steps if since < ts - 1 < until)
        for begin, end in pairwise((since, *dict.fromkeys(steps), until)):
            yield begin, end, self.at(begin), self.at(end)
