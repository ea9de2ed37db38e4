"""The parts beside this process: the tables, Redis and Spark, and where they are.

``manage.py up`` writes where Redis and Spark serve into ``DATA/run``; the environment goes
before that.  All is read when asked for, so that a restarted part is found again.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings

from tapestry.core.errors import TapestryError
from tapestry.tables.log import Snapshot, Tables

if TYPE_CHECKING:
    from tapestry.run.answer import Engine
    from tapestry.run.together import Directory
    from tapestry.tables.register import Register

SPARK_AGAIN = "spark.again"
"""A file in ``DATA/run`` by which Spark is asked to be started again."""

DEFAULT_REDIS = "redis://127.0.0.1:6379/0"


def data() -> Path:
    """Return the data directory."""
    return Path(settings.DATA)


def tables() -> Tables:
    """Return the tables of messages and annotations."""
    return Tables(data() / "tables")


def redis_url() -> str:
    """Return where Redis serves."""
    return os.environ.get("REDIS_URL") or _written("redis.url") or DEFAULT_REDIS


def spark_remote() -> str | None:
    """Return where Spark Connect serves (``sc://…``), or None if nobody said."""
    return os.environ.get("SPARK_REMOTE") or _written("spark.remote")


def engine_on(snapshot: Snapshot) -> Engine:
    """Return an engine over one snapshot of the tables: the running Spark, else one's own.

    Raises TapestryError if Spark should be there and does not answer.  It is asked each
    time: the client of a server that has died would wait for minutes.
    """
    from tapestry.run.connection import LOCAL, reconnect
    from tapestry.run.spark import SparkEngine

    remote = spark_remote() or LOCAL
    return SparkEngine(
        _session(), snapshot, again=lambda: reconnect(remote), gave_up=ask_for_another_spark
    )


def ask_for_another_spark() -> None:
    """Have ``manage.py up``, if Spark is its, start Spark again: it may be at work for nobody."""
    if spark_remote() == _written("spark.remote"):
        (data() / "run" / SPARK_AGAIN).touch()


def directory_on(register: Register) -> Directory:
    """Return what answers from the register: the same Spark, asked only if need be."""
    from tapestry.run.directory import directory

    return directory(_session, register)


def _session() -> Any:
    from tapestry.run.connection import LOCAL, connect

    remote = spark_remote()
    if remote is not None:
        must_answer(remote)
    return connect(remote or LOCAL)


def must_answer(remote: str, timeout: float = 2) -> None:
    """Raise TapestryError unless something listens at a Spark Connect address."""
    place = urlsplit(remote)
    try:
        port = place.port or 15002
        socket.create_connection((place.hostname or "", port), timeout=timeout).close()
    except (OSError, ValueError) as error:
        raise TapestryError(
            f"Spark cannot be reached at {remote}.",
            hint="Start it with `manage.py up`, or set SPARK_REMOTE to a server that runs.",
        ) from error


def _written(name: str) -> str | None:
    try:
        return (data() / "run" / name).read_text().strip() or None
    except FileNotFoundError:
        return None
