"""The clock of a filter that waits: up to when all mail was here that its owner sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.simulation.auditor.spans import FOREVER, Spans, holds, meet, union_all

Row = dict[str, Any]
Clock = tuple[tuple[int, int, int], ...]
"""Pieces (from, until, limit) of all time: in each ``now()`` is t, and the limit at most."""

ORDINARY: Clock = ((-FOREVER, FOREVER, FOREVER),)


def clock_of(
    facts: Iterable[Row],
    audiences: frozenset[str],
    waits_from: int,
    t0: int | None,
    at_start: int | None = None,
) -> Clock:
    """Return the clock of a filter that waits from an instant on; at its T0 it is ``at_start``."""
    upto: dict[tuple[int, str], int] = {}
    seen = [fact for fact in facts if fact["audience"] in audiences]
    instants = sorted({fact["ts"] for fact in seen if fact["ts"] > waits_from})
    pieces: list[tuple[int, int, int]] = []
    reached = next((at for at in (at_start, t0) if at is not None), -FOREVER)
    for begin, end in zip([-FOREVER, *instants], [*instants, FOREVER], strict=True):
        for fact in seen:
            if fact["ts"] <= max(begin, waits_from):
                upto[fact["source"], fact["audience"]] = fact["upto"]
        reached = max(reached, min(upto.values(), default=FOREVER))
        if t0 is not None and begin <= t0 < end:
            pieces.append((begin, t0 + 1, reached if at_start is None else at_start))
            begin = t0 + 1
        pieces.append((begin, end, reached))
        reached = min(reached, end - 1)
    return tuple(pieces)


def instants_of(clock: Clock) -> Callable[[Spans], Spans]:
    """Return the function from what ``now()`` is to the instants at which it is that.

    >>> instants_of(((-FOREVER, 10, 8), (10, FOREVER, FOREVER)))(((8, 9), (12, 13)))
    ((8, 10), (12, 13))
    """

    def of(values: Spans) -> Spans:
        found = []
        for begin, end, limit in clock:
            found.append(meet(values, ((begin, min(end, limit)),)) if begin < limit else ())
            stands = max(begin, limit)
            if stands < end and holds(values, limit):
                found.append(((stands, end),))
        return union_all(found)

    return of
