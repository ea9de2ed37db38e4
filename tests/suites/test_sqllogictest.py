"""Random expressions in a WHERE: what the product reads and runs finds what sqlite finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, MESSAGES
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import Engine
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect
from tests.spark.test_engine import snapshot_of
from tests.suites.answers import answers
from tests.suites.expressions import ROWS, UNKNOWN_TO_TQL, conditions
from tests.support.engines.sqlite_engine import SqliteEngine

DATA = {MESSAGES: ROWS, ANNOTATIONS: []}

SELECT = "SELECT m.msgid FROM messages m WHERE {}"

ONCE_UNKNOWN = {
    "+ m.size > 3",
    "m.size / 2 > 3",
    "NULLIF(m.size, 3) > 3",
    "CASE WHEN m.size > 3 THEN 1 END = 1",
    "CAST(NULL AS INTEGER) > 3",
    "ABS(m.size) > 3",
    "(m.size > 3) IS NULL",
    "m.size > 3 = (m.attachments > 3)",
    "COUNT(*) > 3",
    "MAX(m.size) > 3",
}
"""All that UNKNOWN_TO_TQL may hold: nothing is added here."""


def by_sqlite(condition: str) -> set[str]:
    """Return what sqlite finds, without any of our statements."""
    return {msgid for (msgid,) in SqliteEngine(DATA).db.execute(SELECT.format(condition))}


def by_product(engine: Engine, asked: Sequence[str]) -> list[set[str]]:
    plans = [compile_filter(SELECT.format(condition), Context()) for condition in asked]
    return answers(plans, ("public",), engine, 1)


def check(engine: Engine, examples: int, phases: Sequence[Phase] = tuple(Phase)) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    @given(conditions)
    def same(condition: str) -> None:
        assert by_product(engine, [condition]) == [by_sqlite(condition)], condition

    same()


def test_expressions_mean_what_they_mean_in_sql() -> None:
    check(SqliteEngine(DATA), 100)


@pytest.mark.long
def test_expressions_mean_what_they_mean_in_sql_in_a_long_campaign() -> None:
    check(SqliteEngine(DATA), 20_000)


@pytest.fixture(scope="module")
def spark(spark_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    directory: Path = tmp_path_factory.mktemp("expressions")
    session = connect(spark_server)
    yield SparkEngine(session, snapshot_of(DATA, directory))
    session.stop()


@pytest.mark.spark
def test_expressions_mean_the_same_on_spark(spark: SparkEngine) -> None:
    """30 in one statement, as filters share one."""
    asked: list[str] = []

    @settings(max_examples=30, deadline=None, database=None, phases=[Phase.generate])
    @given(conditions)
    def draw(condition: str) -> None:
        asked.append(condition)

    draw()
    assert len(asked) == 30
    for condition, matches in zip(asked, by_product(spark, asked), strict=True):
        assert matches == by_sqlite(condition), condition


def test_the_list_of_what_is_not_read_only_shrinks() -> None:
    assert UNKNOWN_TO_TQL.keys() <= ONCE_UNKNOWN


@pytest.mark.parametrize("condition", UNKNOWN_TO_TQL)
def test_what_is_not_read_is_refused_in_words(condition: str) -> None:
    with pytest.raises(TapestryError):
        read(SELECT.format(condition), Context())
