"""A world: a directory, a site process over it, the clocks, the queue, and what happened so far."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from simulation import site_process
from simulation.endpoints import Endpoints
from simulation.history import History
from simulation.tasks import Queue

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND
BEGIN = 1_772_323_200 * SECOND
"""The first instant of every world: 1 March 2026."""


class CrashedError(Exception):
    """The site ended before it had done what it was ordered to do."""


class OrderFailedError(Exception):
    """An order of the site ended with an exception: its traceback."""


class World:
    """One site in simulated time; ``plant`` is called in each process of it as it starts."""

    def __init__(
        self, seed: int, directory: Path, template: Path, plant: Callable[[], None] | None = None
    ) -> None:
        self.seed, self.data, self.plant = seed, directory, plant
        directory.mkdir(parents=True, mode=0o700)
        shutil.copy(template, directory / "db.sqlite3")
        self.history = History()
        self.lots = random.Random(f"{seed} world")
        self.endpoints = Endpoints(self.history, random.Random(f"{seed} endpoints"))
        self.queue = Queue()
        self.now, self.steady, self.started = BEGIN, 0, 0
        self.fault: tuple[str, int] = ("", 0)
        self.planned = False
        self._pipe: Connection | None = None
        self._process = 0
        self.history.now = self.now

    # Time.

    def pass_time(self, microseconds: int) -> None:
        """Let time pass."""
        self.now += microseconds
        self.steady += microseconds
        self.history.now = self.now

    def step_clock(self, microseconds: int) -> None:
        """Set the wall clock forward or back."""
        self.now += microseconds
        self.history.now = self.now
        self.history.add("fault", kind="clock_step", by=microseconds)

    # The site.

    def order(self, do: str, **what: Any) -> Any:
        """Have the site do something, and return what it says.

        Raise CrashedError if it ended meanwhile, OrderFailedError if an exception was not caught.
        """
        pipe = self._site()
        fault, self.fault = self.fault, ("", 0)
        try:
            pipe.send(
                {"do": do, "with": what, "now": self.now, "steady": self.steady, "fault": fault}
            )
            done = self._attend(pipe)
        except (EOFError, ConnectionResetError, BrokenPipeError):
            self.stop()
            raise CrashedError(do) from None
        self.now, self.steady = done["now"], done["steady"]
        self.history.now = self.now
        self.planned = bool(done["fired"])
        if self.planned:
            self.history.add("fault", kind=f"fired {fault[0]}", during=do)
        if done["error"]:
            raise OrderFailedError(done["error"])
        return done["reply"]

    def _attend(self, pipe: Connection) -> dict[str, Any]:
        while True:
            kind, what, *rest = pipe.recv()
            if kind == "done":
                return dict(what)
            if kind == "tell":
                self._told(what, rest[0])
            else:
                request, self.history.now = rest[0]
                answer = self.endpoints.answer(what, request)
                pipe.send((answer, answer.get("waited", 0)))

    def _told(self, what: str, content: Any) -> None:
        if what == "task":
            self.queue.add(content, self.now)
        else:
            self.history.add(what, **content)

    def _site(self) -> Connection:
        if self._pipe is None:
            self.started += 1
            ours, theirs = Pipe()
            process = os.fork()
            if process == 0:
                ours.close()
                seed = f"{self.seed} site {self.started}"
                site_process.run(theirs, self.data, seed, self.now, self.steady, self.plant)
                os._exit(0)
            theirs.close()
            self._pipe, self._process = ours, process
        return self._pipe

    def stop(self) -> None:
        """End the site's process, as a kill does; the next order starts another."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)

    # What can be seen of it.

    def select(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Return rows of the site's database, which is only read."""
        with closing(sqlite3.connect(f"file:{self.data / 'db.sqlite3'}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(query, values)]

    def close(self) -> None:
        """End the site, and remove all that it has stored."""
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)
