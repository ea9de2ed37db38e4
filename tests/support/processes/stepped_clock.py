"""The wall clock of programs, which a test sets back and forward while they run."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tapestry.core.clock import DAY, HOUR, MINUTE, SECOND
from tests.support.processes.preloaded import build

STEPS = (SECOND // 10, SECOND, 30 * SECOND, 10 * MINUTE, 2 * HOUR, 3 * DAY)


class SteppedClock:
    """How far the clock of some programs is ahead, in microseconds; ``most`` ever so far."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        self.file = directory / "step"
        self.chance = chance
        self.most = 0
        self.ahead(0)
        library = build("stepped_clock", directory)
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_STEP": str(self.file)}

    def ahead(self, microseconds: int) -> None:
        """Set the clock to be so far ahead of the machine's; less than nothing is behind."""
        self.most = max(self.most, microseconds)
        # Eight bytes at once, in the same file: programs have it mapped.
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(microseconds.to_bytes(8, "little", signed=True))

    def step(self) -> None:
        """Set the clock back or forward, by chance."""
        self.ahead(self.chance.choice((-1, 1)) * self.chance.choice(STEPS))

    @contextmanager
    def stepping(self, pause: float) -> Iterator[None]:
        """Step in another thread, with a pause of so many seconds in between."""
        stop = threading.Event()

        def step() -> None:
            while not stop.wait(pause):
                self.step()

        thread = threading.Thread(target=step)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
