"""Spark Connect as it is in production: TLS and a token, lost sessions, and balancers that cut."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import trustme

from tapestry.core.message import Message
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import SETTINGS, connect
from tapestry.spark.session import _sessions as sessions
from tapestry.tables.delta.log import Snapshot, Tables, snapshot
from tapestry.tables.write.append import append_messages
from tests.spark.test_session import MANY, SLOW, asked, running_tasks
from tests.support.clocks import MemoryClock
from tests.support.servers.cutting_proxy import CuttingProxy
from tests.support.servers.tls_proxy import tls_proxy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    tables = Tables(tmp_path_factory.mktemp("tables"))
    append_messages(tables, MemoryClock(), [Message(f"{n}@x", size=n) for n in range(MANY)])
    return snapshot(tables)


@pytest.fixture
def balancer(spark_server: str) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(urlsplit(spark_server).port or 0)
    yield proxy
    sessions.pop(behind(proxy.port, spark_server)).stop()
    proxy.close()


def behind(port: int, spark_server: str, more: str = "") -> str:
    """Return the address of the Spark behind a port, with its token."""
    return f"sc://localhost:{port}/;{more}token={spark_server.partition('token=')[2]}"


def test_a_spark_behind_tls_is_asked_with_its_token(
    spark_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    tls.set_alpn_protocols(["h2"])
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    monkeypatch.delenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", raising=False)
    with tls_proxy(urlsplit(spark_server).port or 0, tls) as port:
        remote = behind(port, spark_server, "use_ssl=true;")
        assert connect(remote).version
        sessions.pop(remote).stop()


def of_server_that_was_restarted(session: Any) -> None:
    session.client._server_session_id = str(uuid4())  # of which the restarted one knows nothing


@pytest.mark.parametrize(
    "lose",
    [lambda session: session.client.release_session(), of_server_that_was_restarted],
    ids=["released", "restarted"],
)
def test_a_session_that_the_server_has_lost_is_opened_anew_with_its_settings(
    lose: Any, balancer: CuttingProxy, spark_server: str, mail: Snapshot
) -> None:
    remote = behind(balancer.port, spark_server)
    before = connect(remote)
    before.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    lose(before)
    after = connect(remote)
    assert after.session_id != before.session_id
    assert {name: after.conf.get(name) for name in SETTINGS} == SETTINGS
    assert asked(SparkEngine(after, mail)) == ["0@x", "1@x", "2@x"]


def test_a_session_whose_idle_connection_was_cut_goes_on(
    balancer: CuttingProxy, spark_server: str, mail: Snapshot
) -> None:
    remote = behind(balancer.port, spark_server)
    session = connect(remote)
    balancer.hang_up()
    assert connect(remote) is session
    assert asked(SparkEngine(session, mail)) == ["0@x", "1@x", "2@x"]


@pytest.mark.long
def test_a_statement_whose_stream_is_cut_goes_on_and_is_not_asked_again(
    balancer: CuttingProxy,
    spark_server: str,
    mail: Snapshot,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="tapestry.spark")
    session = connect(behind(balancer.port, spark_server))
    working = running_tasks(session)
    answers = list[list[str]]()
    engine = SparkEngine(session, mail)
    asking = threading.Thread(target=lambda: answers.append(asked(engine, SLOW)))
    asking.start()
    assert working.wait(300)
    passed = balancer.passed
    balancer.hang_up()
    asking.join()
    assert balancer.passed > passed and answers == [["1@x"]]
    assert not [line for line in caplog.messages if line.startswith("spark_session_lost")]
    assert connect(behind(balancer.port, spark_server)) is session
