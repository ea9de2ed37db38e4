"""The parts beside this process: the tables, Redis and Spark, and where they are.

``manage.py up`` writes the addresses of Redis and of its two Sparks into ``DATA/run``; the
environment takes precedence.  They are read at each use, so that a restarted part is found again.

Statements that have shown what they cost run on the first Spark.  What nobody has run yet, a
preview or the first windows of a filter, runs on the second, which may be restarted at any time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from filters.site.settings.machine import run_directory
from filters.site.work.parts import addresses, spark_restart
from filters.site.work.parts.addresses import PROVEN, UNPROVEN
from tapestry.core.errors import TapestryError
from tapestry.core.files.file_lock import shared_lock

if TYPE_CHECKING:
    from tapestry.embedded.local_rows import LocalRows
    from tapestry.plan.engine import Engine
    from tapestry.tables.delta.log import Snapshot, Tables

PATIENCE = {PROVEN: math.inf, UNPROVEN: 60.0}
"""Seconds after which a Spark that is busy for nobody is restarted although it serves others."""

START = 90.0
"""Seconds that a Spark of ``manage.py up`` may take to start: a statement waits for it."""

HANGING = 300.0
"""Seconds after which one that has not come up is started again: its start hangs."""

DEFAULT_REDIS = "redis://127.0.0.1:6379/0"


def data() -> Path:
    return Path(settings.DATA)


def run() -> Path:
    """Return the directory of what runs on this machine: addresses, logs, and requests to `up`."""
    return run_directory(data(), settings.MACHINE)


def tables() -> Tables:
    from tapestry.tables.delta.log import Tables

    return Tables(data() / "tables")


def redis_url() -> str:
    written = addresses.written(run(), "redis.url")
    return os.environ.get("REDIS_URL") or written or DEFAULT_REDIS


def spark_remote(server: str = PROVEN) -> str | None:
    """Return where a Spark serves; None if that is not set and no `up` has started one here."""
    return addresses.spark_remote(run(), server)


def engine_on(snapshot: Snapshot) -> Engine:
    """Return an engine over a snapshot of the tables; Spark is opened by what needs it.

    It is that of ``manage.py up``, which starts it then, else a local one.  A statement waits for
    its start; TapestryError if it does not answer then.
    """
    return _engine(snapshot, PROVEN, lambda: True)


def unproven_engine_on(snapshot: Snapshot, is_wanted: Callable[[], bool] = lambda: True) -> Engine:
    """Return an engine on the second Spark, for what has not shown yet what it costs."""
    return _engine(snapshot, UNPROVEN, is_wanted)


def _engine(snapshot: Snapshot, server: str, is_wanted: Callable[[], bool]) -> Engine:
    from tapestry.embedded.engine import EmbeddedEngine
    from tapestry.embedded.local_rows import LocalRows
    from tapestry.run.limits.suspects import open_engine

    local_rows = LocalRows(snapshot)
    spark_on = partial(_spark, local_rows, server, is_wanted)
    return EmbeddedEngine(local_rows, partial(open_engine, spark_on, snapshot))


def _spark(
    local_rows: LocalRows, server: str, is_wanted: Callable[[], bool], snapshot: Snapshot
) -> Engine:
    from tapestry.spark.engine import SparkEngine
    from tapestry.spark.session import reconnect

    here = run()
    is_ours = addresses.is_dormant(here, server) or addresses.owner(here, server) is not None
    connect_now = partial(_connect, here, server)
    try:
        session = reconnect(connect_now, START if is_ours else 0.0)
    except Exception:
        spark_restart.ask(here, server, HANGING)
        raise
    return SparkEngine(
        session,
        snapshot,
        local_rows=local_rows,
        reopen=lambda: reconnect(connect_now),
        running=partial(shared_lock, spark_restart.running(here, server)),
        is_wanted=is_wanted,
        on_given_up=partial(spark_restart.ask_if_busy, here, server, PATIENCE[server])
        if is_ours
        else lambda: None,
    )


def _connect(run: Path, server: str) -> Any:
    """Return a session with a Spark where it is now: one that was started again is elsewhere."""
    from tapestry.spark.session import LOCAL, connect

    if addresses.is_dormant(run, server):
        spark_restart.want(run, server)
        raise TapestryError(
            "Spark has not started.", hint="What `manage.py up` prints, and Spark's log, say why."
        )
    return connect(spark_remote(server) or LOCAL, addresses.owner(run, server))
