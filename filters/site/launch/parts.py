"""The parts that run: looked after, started again where they have ended, stopped together."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from filters.site.launch.restarts import State, Step, after_end, decide
from filters.site.work.parts.endings import Ending
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import Child, stop

log = logging.getLogger(__name__)


def is_there(path: Path | None) -> bool:
    """Return whether there is a file; what cannot be asked now is asked again."""
    try:
        return path is not None and path.exists()
    except OSError:
        return False


@dataclass
class Part:
    """A part, its process, how it is started, and how it does.

    ``start`` raises TapestryError or OSError.  Without a process it is started once there is a file
    ``wanted``.  ``asked`` is one by which others ask for another process although this one runs.
    """

    name: str
    log: Path
    start: Callable[[], Child]
    child: Child | None = None
    wanted: Path | None = None
    asked: Path | None = None
    state: State = field(default_factory=lambda: State(time.monotonic()))

    @property
    def alive(self) -> bool:
        """Return whether its process runs."""
        return self.child is not None and self.child.alive

    def is_first_wanted(self) -> bool:
        """Return whether it has not been started, and now is to be."""
        is_new = self.child is None and self.state.due is None
        return is_new and is_there(self.wanted)

    def runs(self) -> bool:
        """Return whether it runs, or need not yet, and nobody asks for another."""
        return self.child is None or (self.child.alive and not is_there(self.asked))

    def start_again(self) -> None:
        """Start it, its process of before having been stopped; if that fails, it has ended."""
        try:
            if self.asked is not None:
                self.asked.unlink(missing_ok=True)
            self.child = self.start()
        except (TapestryError, OSError) as error:
            self.state = after_end(self.state, time.monotonic())
            log.warning("%s cannot be started: %s", self.name, error)


@dataclass
class Parts:
    """All parts: those ``behind`` the others, which stop last, and the others.

    Without ``redis``, where it is one of ours, the others do not run.
    """

    behind: list[Part] = field(default_factory=list)
    others: list[Part] = field(default_factory=list)
    redis: Part | None = None

    def __iter__(self) -> Iterator[Part]:
        yield from (*self.behind, *self.others)

    def tend(self) -> None:
        """Start the parts that have ended, each when it is due, and after Redis those that use it.

        Call it again and again, from the main thread (see ``spawn``).
        """
        _tend(self.behind)
        _tend(self.others, self.redis.state if self.redis else None)

    def endings(self) -> list[Ending]:
        """Return the parts that are not well."""
        now, at = time.monotonic(), wall_clock()
        return [
            Ending(
                part.name,
                part.log.name,
                part.state.ended,
                at - int((now - part.state.since) * SECOND),
                part.state.due is not None,
            )
            for part in self
            if part.state.ended and part.state.is_unwell(now)
        ]

    def stop(self) -> None:
        """End every part: those that need others before these."""
        _stop(self.others[::-1])
        _stop(self.behind[::-1], grace=3.0)


def _tend(parts: Sequence[Part], needed: State | None = None) -> None:
    steps: dict[Step, list[Part]] = {step: [] for step in Step}
    for part in parts:
        before = part.state
        if part.is_first_wanted():
            log.warning("%s is needed for the first time. It is started.", part.name)
            step, part.state = Step.START, State(time.monotonic())
        else:
            step, part.state = decide(before, part.runs(), time.monotonic(), needed)
        if part.child and (part.state.ended, part.state.since) != (before.ended, before.since):
            log.warning("%s. It is started again.", _ending(part.child))
        steps[step].append(part)
    _stop([*steps[Step.STOP], *steps[Step.START]])
    for part in steps[Step.START]:
        part.start_again()


def _ending(child: Child) -> str:
    return f"{child.name} is replaced" if child.alive else child.describe_exit()


def _stop(parts: Sequence[Part], grace: float = 4.0) -> None:
    stop([part.child for part in parts if part.child is not None], grace)
