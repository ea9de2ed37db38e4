"""Another user of this machine, at every port of a Spark, and at one that it has left."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from pyspark.errors import PySparkException

from tapestry.core.errors import TapestryError
from tapestry.plan import engine as engine_module
from tapestry.plan.engine import EngineStuckError, require_running
from tapestry.spark import channel
from tapestry.spark import server as spark_server
from tapestry.spark import session as session_module
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect, is_lost
from tapestry.tables.delta.log import Snapshot
from tests.support.paths import ROOT
from tests.support.processes.listening_ports import LOOPBACK, listening
from tests.support.processes.other_user import is_root, run_as_other_user, squatting
from tests.support.processes.spark_stranger import is_response, stop_executor

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

EXECUTOR_PORTS = 2
"""Ports of a Spark beside that of Spark Connect: the driver's RPC, and its blocks."""

STRANGER = (ROOT / "tests/support/processes/spark_stranger.py").read_text()


def started(run, **options):
    server = spark_server.start(run, jvm_options=spark_server.SHORT_LIVED, **options)
    server.wait(300)
    return server


@pytest.fixture(scope="module")
def sparks(tmp_path_factory):
    """The server of these tests, the last of a list: one of them ends it."""
    servers = [started(tmp_path_factory.mktemp("spark"))]
    yield servers
    servers[-1].stop()


@pytest.fixture
def spark(sparks):
    """The server, running."""
    if not sparks[-1].child.alive:
        sparks.append(sparks[-1].restart())
        sparks[-1].wait(300)
    return sparks[-1]


@pytest.fixture
def open_spark(tmp_path, monkeypatch):
    """A Spark as it is by default: its ports for executors ask for nothing."""
    monkeypatch.setattr(spark_server, "SECRECY", {})
    server = started(tmp_path)
    monkeypatch.undo()
    yield server
    server.stop()


@pytest.fixture
def stranger_told_apart(monkeypatch):
    """Where the tests are not root, the kernel cannot tell the stranger from us."""
    if not is_root():
        for module in (channel, session_module, spark_server):
            monkeypatch.setattr(module, "is_strangers", lambda port, user: True)


def engine_on(server):
    session = connect(server.remote, os.geteuid())
    return SparkEngine(session, Snapshot((), ()))


def executor_ports(server):
    ports = {port for _, port in listening(server.child.process.pid)} - {server.port}
    assert len(ports) == EXECUTOR_PORTS
    return sorted(ports)


def knock(port):
    """Have another user send the message that ends an executor; return the answer."""
    code = f"{STRANGER}\nprint(stop_executor({port}).hex())"
    return bytes.fromhex(run_as_other_user(code))


def test_every_port_is_on_loopback(spark):
    require_running(engine_on(spark))  # the ports for executors are open by now
    addresses = {address for address, _ in listening(spark.child.process.pid)}
    assert addresses <= LOOPBACK


def test_a_stranger_ends_no_executor(spark):
    engine = engine_on(spark)
    require_running(engine)
    for port in executor_ports(spark):
        answer = knock(port)
        assert b"Unknown challenge" in answer and not is_response(answer)
    require_running(engine)


def test_a_stranger_with_a_guess_is_refused(spark):
    """The handshake with an identity and public key, but without the secret (version 2)."""
    engine = engine_on(spark)
    require_running(engine)
    fields = (b"sparkSaslUser", os.urandom(16), os.urandom(60))
    hello = b"\xfb" + b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    for port in executor_ports(spark):
        code = f"print(exchange({port}, rpc_request(bytes.fromhex('{hello.hex()}'))).hex())"
        assert not is_response(bytes.fromhex(run_as_other_user(f"{STRANGER}\n{code}")))
    require_running(engine)


@pytest.mark.long
def test_without_a_secret_the_message_ends_the_executor_and_a_check_says_so(
    open_spark, monkeypatch
):
    """The message is the right one; and what it does is noticed, and a new server works."""
    engine = engine_on(open_spark)
    require_running(engine)
    monkeypatch.setattr(engine_module, "CHECK_SECONDS", 5.0)
    assert any(is_response(stop_executor(port, 20)) for port in executor_ports(open_spark))
    with pytest.raises(EngineStuckError):
        require_running(engine)
    monkeypatch.undo()
    again = open_spark.restart()
    try:
        again.wait(300)
        assert again.port != open_spark.port and again.token != open_spark.token
        require_running(engine_on(again))
    finally:
        again.stop()


def test_no_secret_is_shown(spark):
    require_running(engine_on(spark))
    arguments = " ".join(psutil.Process(spark.child.process.pid).cmdline())
    assert "spark.authenticate=true" in arguments
    assert "authenticate.secret" not in arguments and spark.token not in arguments
    session = connect(spark.remote, os.geteuid())
    settings = {row[0]: row[1] for row in session.sql("SET").collect()}
    assert settings["spark.authenticate"] == "true"
    assert not [name for name in settings if "secret" in name or "token" in name]
    for path in [Path(place, name) for place, _, names in os.walk(spark.run) for name in names]:
        with suppress(FileNotFoundError, IsADirectoryError):  # Spark deletes files of its own
            assert spark.token.encode() not in path.read_bytes(), path


def test_who_takes_the_port_before_a_spark_does_gets_no_token(
    tmp_path, monkeypatch, stranger_told_apart
):
    with squatting(0) as stranger:
        monkeypatch.setattr(spark_server, "free_port", lambda: stranger.port)
        server = spark_server.start(tmp_path, jvm_options=spark_server.SHORT_LIVED)
        try:
            with pytest.raises(TapestryError, match="Spark ended"):
                server.wait(300)
        finally:
            server.stop()
    assert stranger.received == b""


def test_the_other_localhost_is_not_asked(spark):
    """A stranger can listen at ::1 beside a server at 127.0.0.1."""
    with squatting(spark.port, "::1") as stranger:
        session = session_module._opened(spark.remote, os.geteuid())
        assert session.sql("SELECT 1").collect()
        session.stop()
    assert stranger.received == b""
    assert urlsplit(spark.remote).hostname == "localhost"


def test_files_of_a_spark_are_closed_to_others(spark):
    require_running(engine_on(spark))
    assert not stat.S_IMODE(spark.run.stat().st_mode) & 0o077


def test_who_takes_the_port_of_a_spark_that_ended_is_sent_nothing(spark, request):
    """Neither the token nor a statement, by a session that was open and by a new one."""
    session = connect(spark.remote, os.geteuid())
    assert session.sql("SELECT 1").collect()
    spark.stop()
    with squatting(spark.port) as stranger:
        request.getfixturevalue("stranger_told_apart")
        with pytest.raises(PySparkException):
            session.sql("SELECT 'the mail of terry'").collect()
        assert is_lost(session)
        with pytest.raises(TapestryError, match="another user's process listens"):
            connect(spark.remote, os.geteuid())
    assert stranger.received == b""
