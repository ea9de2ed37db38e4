"""See from time to time whether each Spark still runs statements, though nothing may be due."""

from __future__ import annotations

import time
from collections.abc import Callable

from filters.site.work import services, spark_restart
from tapestry.plan.engine import CHECK_SECONDS, Engine, require_running
from tapestry.tables.delta.log import Snapshot, Tables, snapshot

EVERY = 60.0
"""Seconds between two looks at a Spark."""

_looked: dict[str, float] = {}


def check_spark(server: str, engine_on: Callable[[Snapshot], Engine], tables: Tables) -> None:
    """Run the smallest of statements if none was lately; EngineStuckError if it does not end."""
    now = time.monotonic()
    if now - _looked.get(server, -EVERY) < EVERY:
        return
    require_running(engine_on(snapshot(tables)))
    _looked[server] = now


def restart(server: str) -> None:
    """Have a Spark that runs nothing restarted, if it is ours and was there when it was checked."""
    spark_restart.ask(services.data() / "run", server, CHECK_SECONDS)
