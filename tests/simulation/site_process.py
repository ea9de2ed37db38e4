"""A site: the product itself, in a process that does what the coordinator orders, one at a time.

coordinator ─ order ─> site ─ tell, ask ─> coordinator ─ answer ─> site ─ done ─> coordinator
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.simulation import (
    engine,
    site_dav,
    site_imap,
    site_locks,
    site_mail,
    site_orders,
    site_senses,
)
from tests.simulation.budgets import STATEMENT
from tests.simulation.site_writes import end, watch_writes, writes

MOST_SECONDS = 150.0
"""Seconds of work after which an order counts as one that never ends.

SQLite has no index: what joins everything with everything three times takes a minute.
"""


class TakesTooLongError(BaseException):
    """An order works and works: nothing of the product may catch this."""


def _take_too_long(*_: object) -> None:
    raise TakesTooLongError


class Site:
    """The pipe to the coordinator, seen from the site; a statement takes some seconds, or none."""

    def __init__(
        self, pipe: Connection, clock: site_senses.SiteClock, statement: float = 0.0
    ) -> None:
        self.pipe, self.clock, self.statement = pipe, clock, statement
        self.pauses = False

    def tell(self, what: str, content: Any) -> None:
        self.pipe.send(("tell", what, content))

    def ask(self, what: str, content: Any) -> Any:
        """Ask the coordinator; what it answered may be lost with this process."""
        from django.db import connection

        self.pipe.send(("ask", what, (content, self.clock.now, not connection.in_atomic_block)))
        answer, waited = self.pipe.recv()
        if waited:
            self.clock.sleep(waited)
        writes.point("answer")
        return answer

    def split(self) -> bool:
        """Stand still at a write, while others take what this site holds for lost; then go on.

        Return whether its session with the database ended, for it held a transaction.
        """
        from django.db import connection

        session = connection.connection
        has_ended = session is not None and session.in_transaction
        if has_ended:
            session.rollback()
        self.pipe.send(("ask", "split", (None, self.clock.now, True)))
        self.pipe.recv()
        return has_ended

    def pause(self) -> None:
        """Let others do something while a statement runs, if they want to; it may fail."""
        if fault := writes.statement():
            raise engine.failure(fault, self.clock.now)
        self.clock.sleep(self.statement)
        if self.pauses:
            self.ask("statement", None)


class _Log(logging.Handler):
    """Tells the coordinator each line of level ERROR or more."""

    def __init__(self, site: Site) -> None:
        super().__init__(logging.WARNING)
        self.site = site

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info))
        planned = {"planned": True} if writes.fired else {}
        told = {"level": record.levelname, "name": record.name, "text": text, **planned}
        self.site.tell("log", told)


def run(
    pipe: Connection,
    data: Path,
    seed: str,
    now: int,
    steady: int,
    plant: Any = None,
    spark: str = "",
    *,
    parts: int = 1,
    budgets: str = "",
) -> None:
    """Serve until the pipe is closed; then end this process.  ``spark`` is the engine, if any."""
    from django.conf import settings

    from filters.site.settings.budgets import read_budgets

    settings.WINDOW_PARTS, settings.BUDGETS = parts, read_budgets(budgets)
    try:
        _serve(pipe, data, seed, now, steady, plant, spark, budgets)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _serve(
    pipe: Connection,
    data: Path,
    seed: str,
    now: int,
    steady: int,
    plant: Any,
    spark: str,
    budgets: str,
) -> None:
    from django.conf import settings
    from django.db import connections

    settings.DATA = data
    settings.SECRET_KEY = "of a simulated world"
    settings.EMAIL_BACKEND = "tests.simulation.site_mail.Backend"
    settings.PRIVATE_HOSTS = ["127.0.0.0/8"]
    settings.DATABASES["default"]["NAME"] = data / "db.sqlite3"
    connections["default"].settings_dict["NAME"] = data / "db.sqlite3"
    connections["default"].settings_dict["OPTIONS"]["timeout"] = 0  # nobody else ever writes
    product = [m for name, m in sys.modules.items() if name.startswith(("filters.", "tapestry."))]
    clock = site_senses.give_time(product)
    site = Site(pipe, clock, STATEMENT if "seconds" in budgets else 0.0)
    clock.set(now, steady)
    site_mail.ask = site.ask
    site_senses.give_chance(seed)
    site_senses.give_queue(site.tell)
    site_senses.give_http(site.ask)
    site_imap.give_mailboxes(site.ask)
    site_dav.give_books(site.ask)
    site_senses.give_engine(site.pause, spark)
    site_senses.keep_facts()
    site_orders.be_small()
    watch_writes(data, seed)
    writes.stand_still = site.split
    locks = site_locks.give_locks(data)
    signal.signal(signal.SIGPROF, _take_too_long)
    root = logging.getLogger()
    root.handlers[:] = [_Log(site)]
    if plant is not None:
        plant()
    while True:
        order = pipe.recv()
        clock.set(order["now"], order["steady"])
        writes.plan(*order["fault"])
        locks.session = order["session"]
        site.pauses = order["pauses"]
        if order["chance"]:
            site_senses.give_chance(order["chance"])
        reply: Any = None
        error = ""
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            reply = site_orders.ORDERS[order["do"]](**order.get("with", {}))
        except (Exception, TakesTooLongError):
            error = traceback.format_exc()
        signal.setitimer(signal.ITIMER_PROF, 0)
        if writes.is_lost:
            end()
        done, fired = writes.done, writes.fired
        writes.plan("", 0)
        pipe.send(
            (
                "done",
                {
                    "reply": reply,
                    "error": error,
                    "writes": done,
                    "fired": fired,
                    "now": clock.now,
                    "steady": clock.steady,
                },
            )
        )
