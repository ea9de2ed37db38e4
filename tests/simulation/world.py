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

from tests.simulation import site_process
from tests.simulation.endpoints import Endpoints
from tests.simulation.history import History
from tests.simulation.site_writes import SPLITS
from tests.simulation.tasks import Queue

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86400 * SECOND
BEGIN = 1_772_323_200 * SECOND
"""The first instant of every world: 1 March 2026."""

PARTS = ((1,), (1,), (2,), (3,), (3, 1, 2))
"""How many parts the shared window has in the processes of a site, one after the other."""

NO_FAULT = ("", 0)


class CrashedError(Exception):
    """The site ended before it had done what it was ordered to do."""


class OrderFailedError(Exception):
    """An order of the site ended with an exception: its traceback."""


class World:
    """One site in simulated time; ``plant`` is called in each process of it as it starts.

    ``spark`` is the address of the engine; without one it is SQLite.  ``parts`` is how many parts
    the shared window has, by lot if it is 0; where that changes, it does as a process starts.
    ``budgets`` are what people may use, as TAPESTRY_BUDGETS has it.
    """

    def __init__(
        self,
        seed: int,
        directory: Path,
        template: Path,
        plant: Callable[[], None] | None = None,
        spark: str = "",
        parts: int = 0,
        budgets: str = "",
    ) -> None:
        self.seed, self.data, self.plant, self.spark = seed, directory, plant, spark
        directory.mkdir(parents=True, mode=0o700)
        shutil.copy(template, directory / "db.sqlite3")
        self.history = History(str(directory))
        self.lots = random.Random(f"{seed} world")
        self.parts = (parts,) if parts else random.Random(f"{seed} parts").choice(PARTS)
        lots = random.Random(f"{seed} endpoints")
        self.endpoints = Endpoints(self.history, lots, f"{seed} books")
        self.queue = Queue()
        self.now, self.steady, self.started = BEGIN, 0, 0
        self.fault = NO_FAULT
        self.planned = False
        self.chance = ""
        """From what the site draws lots in its next order; if empty, from where it is."""
        self.meanwhile: Callable[[], None] | None = None
        self._meanwhile_in = 0
        self._session = 0
        """Which session has the locks: those of one before count for nothing."""
        self._ordered = ""
        self._sites: dict[int, tuple[Connection, int]] = {}
        self._at = 0
        self.history.now = self.now
        self.budgets = budgets
        if budgets:
            self.history.add("budgets", rules=budgets)

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
        pipe, now = self._site(), self.now
        fault, self.fault = self.fault, NO_FAULT
        self._ordered = fault[0]
        sent = {"do": do, "with": what, "now": now, "steady": self.steady, "fault": fault}
        try:
            pauses = self.meanwhile is not None and fault[0] not in SPLITS
            more = {"pauses": pauses, "chance": self.chance, "session": self._session}
            pipe.send({**sent, **more})
            done = self._attend(pipe)
        except (EOFError, ConnectionResetError, BrokenPipeError):
            self._stop(self._at)
            raise CrashedError(do) from None
        self.now += done["now"] - now
        self.steady = max(self.steady, done["steady"])
        self.history.now = self.now
        self.planned = bool(done["fired"])
        if self.planned:
            self.history.add("fault", kind=f"fired {fault[0]}", during=do)
        if done["error"]:
            raise OrderFailedError(done["error"])
        return done["reply"]

    def plan_meanwhile(self, doing: Callable[[], None], after: int) -> None:
        """Have something be done by a second site while the first waits for an answer.

        That is for the n-th one of a statement or a server, within the orders that follow.
        """
        self.meanwhile, self._meanwhile_in = doing, after

    def _attend(self, pipe: Connection) -> dict[str, Any]:
        while True:
            kind, what, *rest = pipe.recv()
            if kind == "done":
                return dict(what)
            if kind == "tell":
                self._told(what, rest[0])
                continue
            request, self.history.now, is_free = rest[0]
            if what == "split":
                self._session += 1
            if is_free:
                self._do_meanwhile(what)
            if what in ("statement", "split"):
                pipe.send((None, 0))
                continue
            answer = self.endpoints.answer(what, request)
            pipe.send((answer, answer.get("waited", 0)))

    def _do_meanwhile(self, waits_for: str) -> None:
        if self.meanwhile is None or self._at or self._ordered == "power":
            return
        if self._ordered in SPLITS and waits_for != "split":
            return
        self._meanwhile_in -= 1
        if self._meanwhile_in > 0:
            return
        doing, self.meanwhile = self.meanwhile, None
        fault, self.fault, planned = self.fault, NO_FAULT, self.planned
        self._at = 1
        self.history.add("meanwhile", waits_for=waits_for)
        try:
            doing()
        finally:
            self._at, self.fault, self.planned = 0, fault, planned
            self.history.add("meanwhile", ended=True)

    def _told(self, what: str, content: Any) -> None:
        if what == "task":
            self.queue.add(content, self.now)
        else:
            self.history.add(what, **content)

    def _site(self) -> Connection:
        if self._at not in self._sites:
            self.started += 1
            ours, theirs = Pipe()
            process = os.fork()
            if process == 0:
                for pipe in (ours, *(pipe for pipe, _ in self._sites.values())):
                    pipe.close()
                seed = f"{self.seed} site {self.started}"
                started = (self.now, self.steady, self.plant, self.spark)
                parts = self.parts[self.started % len(self.parts)]
                site_process.run(
                    theirs, self.data, seed, *started, parts=parts, budgets=self.budgets
                )
                os._exit(0)
            theirs.close()
            self._sites[self._at] = (ours, process)
        return self._sites[self._at][0]

    def stop(self) -> None:
        """End all processes of the site, as a kill does; the next order starts another."""
        for number in list(self._sites):
            self._stop(number)

    def _stop(self, number: int) -> None:
        pipe, process = self._sites.pop(number)
        pipe.close()
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)

    # What can be seen of it.

    def select(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Return rows of the site's database, which is only read."""
        with closing(sqlite3.connect(f"file:{self.data / 'db.sqlite3'}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(query, values)]

    def close(self) -> None:
        """End the site, and remove all that it has stored."""
        self.stop()
        for path in (self.data, *self.data.parent.glob(f"{self.data.name}-*")):
            shutil.rmtree(path, ignore_errors=True)
