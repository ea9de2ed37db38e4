"""This process's session with a Spark Connect server: opened once, and anew after the server was.

A server that is started again knows no session of before.  Statements only read, so whoever
loses a session opens another and asks again.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import socket
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.spark import server as spark_server

LOCAL = "local"
"""The remote that means: a server of this process's own, which ends with it."""

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "64MB",
    "spark.sql.constraintPropagation.enabled": "false",
}
"""Settings of every session: small statements, exact integers, no surprises by zone.  What
Spark infers about join keys is worth less here than the fifth of the time it takes."""

log = logging.getLogger(__name__)

PATIENCE = 90.0
"""Seconds that a server may take to start again."""

_sessions: dict[str, Any] = {}
_opening = threading.Lock()


def connect(remote: str) -> Any:
    """Return this process's session with the Spark Connect server at ``sc://host:port``.

    ``LOCAL`` starts a server for this process alone.  Raises TapestryError where nothing answers.
    """
    with _opening:
        if remote != LOCAL:
            require_listening(remote)
        session = _sessions.get(remote)
        if session is None or is_lost(session):
            begun, lost = time.perf_counter(), session is not None
            session = _opened(_own_server() if remote == LOCAL else remote)
            _sessions[remote] = session
            event(log, "spark_session", lost=lost, seconds=time.perf_counter() - begun)
        return session


def reconnect(remote: str, patience: float = PATIENCE) -> Any:
    """Return a session as soon as a server answers.

    Raises TapestryError if none does within ``patience`` seconds.
    """
    from pyspark.errors import PySparkException

    deadline = time.monotonic() + patience
    while True:
        try:
            return connect(remote)
        except (TapestryError, PySparkException):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def is_lost(session: Any) -> bool:
    """Tell whether the server no longer knows a session, or is not there.

    A lost one is closed on this side too: as the thread's active session pyspark would ask it.
    """
    from pyspark.errors import PySparkException

    try:
        session.conf.get("spark.sql.session.timeZone")
    except (PySparkException, ValueError):  # ValueError: it was closed on this side
        session.client.close()
        return True
    return False


def _opened(remote: str) -> Any:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    builder = SparkSession.builder.remote(remote)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    warnings.filterwarnings("ignore", message=".*RETRIES_EXCEEDED.*")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    session = builder.create()
    # A server that is gone is gone: by itself the client would try for ten minutes.
    session.client.set_retry_policies([DefaultPolicy(max_retries=5, max_backoff=1000)])
    return session


def _own_server() -> str:
    """Start a Spark Connect server that ends with this process, and return its address."""
    run = Path(tempfile.mkdtemp(prefix="tapestry-spark-"))
    atexit.register(shutil.rmtree, run, ignore_errors=True)
    server = spark_server.start(run)
    atexit.register(server.stop)
    server.wait()
    return server.remote


def require_listening(remote: str, timeout: float = 2.0) -> None:
    """Raise TapestryError unless something listens at the address of a Spark Connect server.

    By itself the client of a server that has died would wait for minutes.
    """
    try:
        place = urlsplit(remote)
        host, port = place.hostname, place.port or 15002
    except ValueError:
        host = None
    if host is None or place.scheme != "sc":
        raise TapestryError(
            f"{remote.partition(';')[0]!r} is not the address of a Spark Connect server.",
            hint="Set SPARK_REMOTE to an address such as sc://127.0.0.1:15002.",
        )
    try:
        socket.create_connection((host, port), timeout).close()
    except OSError as error:
        raise TapestryError(
            f"Spark cannot be reached at {host}:{port} ({error.strerror or error}).",
            hint="Start it with `manage.py up`, or set SPARK_REMOTE to a server that runs.",
        ) from error
