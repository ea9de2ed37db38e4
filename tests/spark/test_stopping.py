"""A statement that meets a server being stopped is asked again, of the next one."""

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from tapestry.core.errors import TapestryError
from tapestry.plan.lowering.assembly import Assembly
from tapestry.spark import engine as engine_module
from tapestry.spark.engine import SparkEngine
from tapestry.tables.delta.log import Snapshot


@pytest.fixture
def engine(monkeypatch):
    engine = SparkEngine(object(), Snapshot((), ()), reopen=object)
    monkeypatch.setattr(engine, "frame", lambda *given: None)
    monkeypatch.setattr(engine, "_tune", lambda *given: None)
    return engine


def fail_once(engine, monkeypatch, words, lost):
    answers, states = [PySparkException(words)], iter(lost)

    def query(*given):
        if answers:
            raise answers.pop()
        return pa.table({"c": []})

    monkeypatch.setattr(engine, "_query_until", query)
    monkeypatch.setattr(engine_module, "is_lost", lambda session: next(states))


def test_a_server_that_is_being_stopped_is_waited_for(engine, monkeypatch):
    words = "Cannot call methods on a stopped SparkContext."
    fail_once(engine, monkeypatch, words, [False, False, True])
    assert engine.fetch(Assembly({}).first_matches()) == []


def test_any_other_error_is_one_of_the_statement(engine, monkeypatch):
    fail_once(engine, monkeypatch, "No such column.", [False])
    with pytest.raises(TapestryError, match="No such column"):
        engine.fetch(Assembly({}).first_matches())
