"""The session of this process with a Spark Connect server.

A server that was restarted does not know the earlier sessions.  Statements only read, so they
are idempotent: when a session is lost, another is opened and the statement runs again.
"""

from __future__ import annotations

import atexit
import logging
import os
import socket
import ssl
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.processes.listeners import is_strangers
from tapestry.spark.server import serving
from tapestry.spark.time_limit import GivenUpError, call_within

LOCAL = "local"
"""Instead of an address: start a server for this process, which ends with it."""

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "64MB",
    "spark.sql.constraintPropagation.enabled": "false",
}
"""Settings of every session: small statements, exact integers, UTC.  Constraint propagation is
off: it would take a fifth of the time and gain less."""

PATIENCE = 90.0
"""Seconds that a server may take to start again."""

OPENING = 30.0
"""Seconds that a server may take to open a session; the client itself would try for minutes."""

_sessions: dict[str, Any] = {}
_opening: dict[str, threading.Lock] = {}


def connect(remote: str, user: int | None = None) -> Any:
    """Return this process's session with the Spark Connect server at ``sc://host:port``.

    ``LOCAL`` starts a server for this process alone.  With the number of a ``user`` it must be a
    server of that user on this machine.  Raises TapestryError where none answers.
    """
    with _opening.setdefault(remote, threading.Lock()):  # a dead server holds up no other
        if remote == LOCAL:
            user = os.geteuid()
        else:
            require_listening(remote, user)
        session = _sessions.get(remote)
        if session is None or is_lost(session):
            started, lost = time.perf_counter(), session is not None
            address = _own_server() if remote == LOCAL else remote
            try:
                session = call_within(OPENING, partial(_opened, address, user), lambda: None)
            except GivenUpError:
                raise TapestryError(
                    "Spark accepts connections, but opens no session.",
                    hint="Look at Spark's log in the data directory's run/, or restart Spark.",
                ) from None
            _sessions[remote] = session
            event("spark_session", lost=lost, seconds=time.perf_counter() - started)
        return session


def reconnect(connect_now: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Return the session of a call as soon as a server answers; raise after ``patience`` seconds.

    The call looks each time where the server is: one that was started again is elsewhere.
    """
    from pyspark.errors import PySparkException

    deadline = time.monotonic() + patience
    while True:
        try:
            return connect_now()
        except (TapestryError, PySparkException):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def is_lost(session: Any) -> bool:
    """Return whether a server no longer knows a session, or is not there.

    A lost session is closed on this side too, or pyspark would go on to use it as the active
    session of the thread.
    """
    from pyspark.errors import PySparkException

    try:
        session.conf.get("spark.sql.session.timeZone")
    except (PySparkException, ValueError):  # ValueError: it was closed on this side
        session.client.close()
        return True
    return False


def _opened(remote: str, user: int | None) -> Any:
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # of pyspark: no session of another kind
    if authorities := ssl.get_default_verify_paths().cafile:  # gRPC would ask its own alone
        os.environ.setdefault("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", authorities)
    if user is None:
        session = SparkSession(connection=remote)
    else:
        from tapestry.spark.channel import OwnChannelBuilder

        session = SparkSession(connection=OwnChannelBuilder(remote, user))
    warnings.filterwarnings("ignore", message=".*RETRIES_EXCEEDED.*")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    # By default the client would retry for ten minutes after the server is gone.
    session.client.set_retry_policies([DefaultPolicy(max_retries=5, max_backoff=1000)])
    # Not by the builder of sessions: it holds a lock of the process while it waits for an answer.
    SparkSession._set_default_and_active_session(session)
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def _own_server() -> str:
    """Start a Spark Connect server that ends with this process, and return its address."""
    until_exit = ExitStack()
    atexit.register(until_exit.close)
    run = TemporaryDirectory(prefix="tapestry-spark-", ignore_cleanup_errors=True)
    return until_exit.enter_context(serving(Path(until_exit.enter_context(run))))


def require_listening(remote: str, user: int | None = None, timeout: float = 2.0) -> None:
    """Raise TapestryError unless something listens at the address of a Spark Connect server.

    With the number of a ``user`` the server must be that user's, on this machine.  By default the
    client of a server that has ended would wait for minutes.
    """
    try:
        address = urlsplit(remote)
        host, port = address.hostname, address.port or 15002
    except ValueError:
        host = None
    if host is None or address.scheme != "sc":
        raise TapestryError(
            f"{remote.partition(';')[0]!r} is not the address of a Spark Connect server.",
            hint="Set SPARK_REMOTE to an address such as sc://127.0.0.1:15002.",
        )
    if user is not None:
        if is_strangers(port, user):
            raise TapestryError(
                f"At port {port}, which was Spark's, another user's process listens.",
                hint="It is sent nothing. `manage.py up` starts Spark again at another port.",
            )
        host = "127.0.0.1"
    try:
        with socket.create_connection((host, port), timeout) as connection:
            if connection.getsockname() == connection.getpeername():
                raise ConnectionRefusedError("it was connected to itself")
    except OSError as error:
        raise TapestryError(
            f"Spark cannot be reached at {host}:{port} ({error.strerror or error}).",
            hint="Start it with `manage.py up`, or set SPARK_REMOTE to a server that runs.",
        ) from error
