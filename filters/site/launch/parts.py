"""The parts that run: looked after, started again where they have ended, stopped together."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from filters.site.launch.restarts import State, Step, after_end, decide
from filters.site.work.endings import Ending
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import Child, stop

log = logging.getLogger(__name__)


@dataclass
class Part:
    """A part, its process, how it is started again, and how it does.

    ``again`` raises TapestryError or OSError.  ``asked`` is a file by which others ask for another
    process although this one runs.
    """

    child: Child
    again: Callable[[], Child]
    asked: Path | None = None
    state: State = field(default_factory=lambda: State(time.monotonic()))

    def runs(self) -> bool:
        """Return whether it runs, and nobody asks for another."""
        return self.child.alive and not (self.asked is not None and self.asked.exists())

    def start_again(self) -> None:
        """Start it, its process of before having been stopped; if that fails, it has ended."""
        if self.asked is not None:
            self.asked.unlink(missing_ok=True)
        try:
            self.child = self.again()
        except (TapestryError, OSError) as error:
            self.state = after_end(self.state, time.monotonic())
            log.warning("%s cannot be started: %s", self.child.name, error)


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
                part.child.name,
                part.child.log.name,
                part.state.ended,
                at - int((now - part.state.since) * SECOND),
                part.state.due is not None,
            )
            for part in self
            if part.state.ended and part.state.is_unwell(now)
        ]

    def stop(self) -> None:
        """End every part: those that need others before these."""
        stop([part.child for part in self.others[::-1]])
        stop([part.child for part in self.behind[::-1]], grace=3.0)


def _tend(parts: Sequence[Part], needed: State | None = None) -> None:
    steps: dict[Step, list[Part]] = {step: [] for step in Step}
    for part in parts:
        before = part.state
        step, part.state = decide(before, part.runs(), time.monotonic(), needed)
        if (part.state.ended, part.state.since) != (before.ended, before.since):
            log.warning("%s. It is started again.", _ending(part))
        steps[step].append(part)
    stop([part.child for part in (*steps[Step.STOP], *steps[Step.START])])
    for part in steps[Step.START]:
        part.start_again()


def _ending(part: Part) -> str:
    return f"{part.child.name} is replaced" if part.child.alive else part.child.describe_exit()
