"""What is too much for one run is set aside, on real Spark, and nothing else is."""

import pytest
from pyspark.errors import AnalysisException, SparkRuntimeException

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.core.surroundings import is_unforeseen
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import PlanFailedError, StatementFailedError, TooManyError, TooSlowError
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, execute
from tapestry.run.limits.isolation import MOST_SLOW, isolate, run_alike, run_isolated
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.write.append import append_messages
from tests.support.clocks import MemoryClock

MANY = 400
GIVEN_UP = []


@pytest.fixture(scope="module")
def engine(tmp_path_factory, spark_server):
    tables = Tables(tmp_path_factory.mktemp("tables"))
    mail = [Message(f"{n}@x", subject=f"s{n}", size=n) for n in range(MANY)]
    append_messages(tables, MemoryClock(), mail)
    session = connect(spark_server)
    yield SparkEngine(session, snapshot(tables), on_given_up=lambda: GIVEN_UP.append(1))
    session.stop()


def subscription(number, text):
    return Subscription(number, compile_filter(text, Context()), ("public",), BEGINNING)


def test_a_filter_that_finds_too_much_is_set_aside_from_those_alike(engine, monkeypatch):
    monkeypatch.setattr(engine, "most_rows", 100)
    asked = [subscription(n, f"m.size >= {least}") for n, least in enumerate((390, 0, 395, 380))]

    def run(subscriptions):
        return execute(engine, subscriptions, 2**60, lambda pairs: set())

    matches, over = run_alike(run, asked)
    assert {match.filter_id for match in matches} == {0, 2, 3}
    assert len(matches) == 10 + 5 + 20
    assert [subscription.filter_id for subscription, _ in over] == [1]
    ((_, error),) = over
    assert isinstance(error, TooManyError) and "more than 100 messages" in error.message
    assert error.half == engine.snapshot.messages[0].max_ts


def test_what_takes_too_long_is_given_up(engine, monkeypatch):
    GIVEN_UP.clear()
    monkeypatch.setattr(engine, "most_seconds", 0.5)
    others = ", ".join(f"m{n}" for n in range(2))
    differ = " AND ".join(f"m{n}.subject <> m.subject" for n in range(2))
    total = " + ".join(f"m{n}.size" for n in range(2))
    endless = f"EXISTS ({others}: {differ} AND {total} = 0 - 1)"
    with pytest.raises(TooSlowError, match=r"more than 0\.5 seconds"):
        execute(engine, [subscription(0, endless)], 2**60, lambda pairs: set())
    assert GIVEN_UP == [1]
    monkeypatch.setattr(engine, "most_seconds", 900)
    again = execute(engine, [subscription(0, "m.size = 7")], 2**60, lambda pairs: set())
    assert [match.msgid for match in again] == ["7@x"]


@pytest.mark.parametrize("error", [TapestryError, PlanFailedError, TooSlowError])
def test_what_is_of_a_plan_fails_all_of_it_at_once(error):
    runs = []

    def run(items):
        runs.append(items)
        raise error("No.")

    assert [item for item, _ in run_alike(run, [1, 2])[1]] == [1, 2]
    assert runs == [[1, 2]]


def test_one_that_raises_and_one_that_is_slow_cost_no_other():
    def run(items):
        if 3 in items:
            raise KeyError(3)
        if 10 in items:
            raise TooSlowError("Too slow.")
        return list(items)

    results, failures = run_isolated(run, range(16), str)
    assert sorted({*range(16)} - {*results}) == sorted(item for item, _ in failures) == [3, 10]


def test_only_the_plan_that_takes_too_long_has_no_results():
    def run(items):
        if 10 in items:
            raise KeyError(10)
        if {3, 5} & {*items}:
            raise TooSlowError("Too slow.")
        return list(items)

    results, failures = isolate(run, range(16), lambda item: item in (3, 5, 7))
    assert sorted(item for item, _ in failures) == [3, 5, 7, 10]
    assert sorted(results) == sorted({*range(16)} - {3, 5, 7, 10})


def test_one_whose_plan_cannot_be_told_is_run_by_itself():
    def plan(item):
        if item == 3:
            raise KeyError(item)
        return str(item % 2)

    assert run_isolated(list, range(6), plan) == ([*range(6)], [])

    def slow_together(items):
        if len(items) == 6:
            raise TooSlowError("Too slow.")
        return list(items)

    for isolated in (run_isolated, isolate):
        results, failures = isolated(slow_together, range(6), plan)
        assert (sorted(results), failures) == ([*range(6)], [])


def test_where_all_plans_take_too_long_few_are_tried():
    runs = []

    def run(items):
        runs.append(items)
        raise TooSlowError("Too slow.")

    results, failures = isolate(run, range(16), lambda item: item)
    assert (results, [item for item, _ in failures]) == ([], [*range(16)])
    assert len(runs) == 1 + MOST_SLOW


@pytest.mark.parametrize(
    ("raised", "failed"),
    [(AnalysisException, PlanFailedError), (SparkRuntimeException, StatementFailedError)],
)
def test_what_spark_does_not_run_is_a_failure_of_the_statement(engine, monkeypatch, raised, failed):
    def away(_):
        raise raised("[SOME_CLASS] Not this.")

    with monkeypatch.context() as broken, pytest.raises(StatementFailedError) as failure:
        broken.setattr(engine, "_run", away)
        execute(engine, [subscription(0, "m.size = 7")], 2**60, lambda pairs: set())
    assert failure.type is failed and is_unforeseen(failure.value)


@pytest.mark.parametrize("raised", [KeyError, StatementFailedError])
def test_any_other_error_is_of_one_alone(raised):
    def run(items):
        if 3 in items:
            raise raised("3")
        return list(items)

    results, failures = run_isolated(run, range(6), lambda item: str(item % 2))
    assert sorted(results) == [0, 1, 2, 4, 5]
    assert [(item, type(error)) for item, error in failures] == [(3, raised)]
    assert is_unforeseen(failures[0][1])


def test_a_fault_of_the_surroundings_is_of_none():
    def run(items):
        raise FileNotFoundError

    for tried in (isolate, run_alike):
        with pytest.raises(FileNotFoundError):
            tried(run, [1, 2])


def test_a_top_of_nothing_is_empty(engine):
    top = subscription(0, "among the top ten by votes")
    assert execute(engine, [top], 2**60, lambda pairs: set()) == []
