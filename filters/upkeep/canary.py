"""See from time to time whether each Spark still runs statements, though nothing may be due."""

from __future__ import annotations

import time
from collections.abc import Callable

from filters.runtime import services, spark_restart
from tapestry.core.errors import TapestryError
from tapestry.plan.engine import Engine, TooSlowError, check_engine
from tapestry.tables.log import Snapshot, Tables, snapshot

EVERY = 60.0
"""Seconds between two looks at a Spark."""

PATIENCE = 45.0
"""Seconds that the smallest of statements may take, on a machine that is busy."""

OLD = 120.0
"""Seconds since its start after which a Spark that runs nothing is restarted."""

SPARK_RUNS_NOTHING = "Spark answers, but it runs nothing."

_looked: dict[str, float] = {}


def check_spark(server: str, engine_on: Callable[[Snapshot], Engine], tables: Tables) -> None:
    """Run the smallest of statements if none was lately; raise TapestryError if it does not end.

    Then that Spark is restarted, if it is ours.
    """
    now = time.monotonic()
    if now - _looked.get(server, -EVERY) < EVERY:
        return
    engine = engine_on(snapshot(tables))
    try:
        with engine.limit(PATIENCE):
            check_engine(engine)
    except TooSlowError as error:
        spark_restart.ask(services.data() / "run", server, OLD)
        raise TapestryError(SPARK_RUNS_NOTHING) from error
    _looked[server] = now
