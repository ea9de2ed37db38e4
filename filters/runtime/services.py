"""The parts beside this process: the tables, Redis and Spark, and where they are.

``manage.py up`` writes the addresses of Redis and Spark into ``DATA/run``; the environment
takes precedence.  They are read at each use, so that a restarted part is found again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from tapestry.tables.log import Snapshot, Tables

if TYPE_CHECKING:
    from tapestry.plan.engine import Engine

SPARK_AGAIN = "spark.again"
"""A file in ``DATA/run`` that asks for Spark to be started again."""

DEFAULT_REDIS = "redis://127.0.0.1:6379/0"


def data() -> Path:
    return Path(settings.DATA)


def tables() -> Tables:
    return Tables(data() / "tables")


def redis_url() -> str:
    return os.environ.get("REDIS_URL") or _written("redis.url") or DEFAULT_REDIS


def spark_remote() -> str | None:
    """Return where Spark Connect serves (``sc://…``), or None if that is not set."""
    return os.environ.get("SPARK_REMOTE") or _written("spark.remote")


def engine_on(snapshot: Snapshot) -> Engine:
    """Return an engine over a snapshot of the tables: the running Spark, else a local one.

    Raises TapestryError if a Spark that should run does not answer.
    """
    from tapestry.spark.engine import SparkEngine
    from tapestry.spark.session import LOCAL, connect, reconnect

    remote = spark_remote() or LOCAL
    return SparkEngine(
        connect(remote),
        snapshot,
        reopen=lambda: reconnect(remote),
        on_timeout=ask_for_another_spark,
    )


def ask_for_another_spark() -> None:
    """Have ``manage.py up`` restart its Spark, which may be at work on an abandoned query."""
    if spark_remote() == _written("spark.remote"):
        (data() / "run" / SPARK_AGAIN).touch()


def _written(name: str) -> str | None:
    try:
        return (data() / "run" / name).read_text().strip() or None
    except FileNotFoundError:
        return None
