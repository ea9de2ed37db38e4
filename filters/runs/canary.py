"""See from time to time whether each Spark still runs statements, though nothing may be due.

One that `up` has not started yet is started ahead where statements over a whole table need it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from filters.site.work.parts import addresses, services, spark_restart
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.embedded.local_rows import LocalRows
from tapestry.plan.engine import CHECK_SECONDS, Engine, require_running
from tapestry.tables.delta.log import Snapshot, Tables, snapshot

EVERY = 60.0
"""Seconds between two looks at a Spark."""

_looked: dict[str, float] = {}


def check_spark(server: str, engine_on: Callable[[Snapshot], Engine], tables: Tables) -> None:
    """Run the smallest of statements if none was lately; EngineStuckError if it does not end."""
    now, run = time.monotonic(), services.run()
    if now - _looked.get(server, -EVERY) < EVERY:
        return
    seen = snapshot(tables)
    if not addresses.is_dormant(run, server):
        require_running(engine_on(seen))
    elif not all(map(LocalRows(seen).is_small, (MESSAGES, ANNOTATIONS))):
        spark_restart.want(run, server)
    _looked[server] = now


def restart(server: str) -> None:
    """Have a Spark that runs nothing restarted, if it is ours and was there when it was checked."""
    spark_restart.ask(services.run(), server, CHECK_SECONDS)
