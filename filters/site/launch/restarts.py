"""Decide when a part that has ended is started again: after pauses that grow, for ever.

    runs ── ends ──> down until `due` ── started ──> runs ── for STEADY seconds ──> well

The decision of a supervisor, with exponential backoff: no part is given up, and none ends another.
One that needs another is stopped while that is down, and is started after each start of it.  Times
are seconds of a clock that nobody sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

LONGEST = 60.0
"""Seconds of the longest pause: 0, 1, 2, 4 and so on are before it."""

STEADY = 120.0
"""A part that has run for so many seconds is well: if it ends, it is started again at once."""


@dataclass(frozen=True)
class State:
    """When a part was last started, how often it has ended in a row, and since when.

    ``due`` is when it is started again, None while it runs.
    """

    started: float
    ended: int = 0
    since: float = 0.0
    due: float | None = None

    def is_unwell(self, now: float) -> bool:
        """Return whether it is down, or has ended more than once and may do so again."""
        return self.due is not None or (self.ended > 1 and now - self.started < STEADY)


class Step(Enum):
    """What to do with a part now."""

    STAY = "stay"
    STOP = "stop"
    START = "start"


def decide(state: State, runs: bool, now: float, needed: State | None = None) -> tuple[Step, State]:
    """Return what to do with a part, and its state then; ``needed`` is that of a part it needs."""
    if needed is not None and needed.due is not None:
        due = now if state.due is None else state.due
        return (Step.STOP if runs else Step.STAY), replace(state, due=due)
    if needed is not None and needed.started > state.started:
        return Step.START, replace(state, started=now, due=None)
    if state.due is None:
        if runs:
            return Step.STAY, state
        state = after_end(state, now)
    if state.due is not None and state.due <= now:
        return Step.START, replace(state, started=now, due=None)
    return Step.STAY, state


def after_end(state: State, now: float) -> State:
    """Return the state of a part that has ended just now, or could not be started.

    >>> after_end(State(started=0.0), 500.0)
    State(started=0.0, ended=1, since=500.0, due=500.0)
    >>> after_end(State(started=500.0, ended=3, since=490.0), 501.0)
    State(started=500.0, ended=4, since=490.0, due=505.0)
    """
    if state.ended == 0 or now - state.started >= STEADY:
        return replace(state, ended=1, since=now, due=now)
    pause = min(LONGEST, 2.0 ** min(state.ended - 1, 10))
    return replace(state, ended=state.ended + 1, due=now + pause)
