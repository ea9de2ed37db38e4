"""A Spark that goes down and comes again: who asks gets an answer all the same."""

import os
import signal
import socket
import threading

import pytest

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import TooMuchError
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute
from tapestry.spark import server as spark_server
from tapestry.spark import session as spark_session
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect, is_lost, reconnect
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
MANY = 700


class Spark:
    """A server that is killed, and started again at another address."""

    def __init__(self, run):
        self.server = spark_server.start(run)
        self.server.wait(300)

    def connect(self):
        return connect(self.server.remote, os.geteuid())

    def kill(self):
        os.killpg(self.server.child.process.pid, signal.SIGKILL)
        self.server.child.process.wait()

    def kill_and_start(self):
        self.kill()
        self.server = self.server.restart()


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    made = Spark(tmp_path_factory.mktemp("spark"))
    yield made
    made.server.stop()


@pytest.fixture
def server(spark):
    """The server, running: whichever test came before may have killed it."""
    if spark.server.child.process.poll() is not None:
        spark.server = spark.server.restart()
        spark.server.wait(300)
    return spark


@pytest.fixture(scope="module")
def mail(tmp_path_factory):
    tables = Tables(tmp_path_factory.mktemp("tables"))
    append_messages(tables, MemoryClock(), [Message(f"{n}@x", size=n) for n in range(MANY)])
    return snapshot(tables)


def engine_on(server, mail):
    return SparkEngine(
        server.connect(), mail, reopen=lambda: reconnect(server.connect, patience=300)
    )


def asked(engine, text="m.size < 3"):
    window = Subscription(1, compile_filter(text, Context()), ("public",), BEGINNING)
    return [match.msgid for match in execute(engine, [window], 2**60, lambda pairs: set())]


def running_tasks(session):
    """Return the event that Spark works on a statement of this session."""
    working = threading.Event()

    def look(stages, inflight_tasks, operation_id, done):
        if inflight_tasks:
            working.set()

    session.conf.set("spark.connect.progress.reportInterval", "100ms")
    session.registerProgressHandler(look)
    return working


SLOW = f"EXISTS (r: r.size + m.size = {2 * MANY}) OR m.size = 1"
"""Nothing but one message, after half a million comparisons."""


def test_a_statement_under_way_is_asked_once_more(server, mail, caplog):
    caplog.set_level("INFO", logger="tapestry.spark")
    engine = engine_on(server, mail)
    asked(engine)
    answers = []
    working = running_tasks(engine.session)
    asking = threading.Thread(target=lambda: answers.append(asked(engine, SLOW)))
    asking.start()
    assert working.wait(300)
    assert not answers
    server.kill_and_start()
    asking.join()
    assert answers == [["1@x"]]
    assert not is_lost(server.connect())
    assert {"spark_restart", "spark_session_lost"} <= {line.split()[0] for line in caplog.messages}


@pytest.mark.long
def test_what_spark_goes_down_over_twice_is_too_much(server, mail, monkeypatch):
    engine = engine_on(server, mail)
    query = engine._query_until

    def fatal(deadline, sql, frames):
        server.kill_and_start()
        return query(deadline, sql, frames)

    monkeypatch.setattr(engine, "_query_until", fatal)
    with pytest.raises(TooMuchError, match="twice"):
        asked(engine)
    monkeypatch.undo()
    assert asked(engine, "m.size = 5") == ["5@x"]


def test_a_server_that_says_nothing_holds_up_no_other(server, monkeypatch):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        with monkeypatch.context() as patched, pytest.raises(TapestryError, match="opens no"):
            patched.setattr(spark_session, "OPENING", 1.0)
            connect(f"sc://127.0.0.1:{port}", os.geteuid())
        spark_session._sessions.pop(server.server.remote, None)
        assert not is_lost(server.connect())


def test_a_server_that_stays_away_is_one_sentence(server, mail):
    session = server.connect()
    engine = SparkEngine(session, mail, reopen=lambda: reconnect(server.connect, patience=1))
    server.kill()
    with pytest.raises(TapestryError, match=r"Spark cannot be reached at 127\.0\.0\.1:"):
        asked(engine)
    with pytest.raises(TapestryError, match="Spark did not answer"):
        asked(engine)  # at once: it is not waited for again
    assert session.is_stopped  # or pyspark would ask it about what others make
