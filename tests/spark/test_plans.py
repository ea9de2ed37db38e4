"""Spark's plans: no two tables that grow are joined by comparing all of their pairs.

Of every third phrase, in the long run of each; ``tests/plan/lowering/test_equi_joins.py`` looks at
the statements of all of them.
"""

import re
from itertools import takewhile

import pyarrow as pa
import pytest
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.plan import SQL, SubqueryAlias

from tapestry.core.clock import BEGINNING
from tapestry.plan.compile import compile_filter
from tapestry.plan.engine import evaluate
from tapestry.plan.lowering.lower import lower_at
from tapestry.query.context import Context
from tapestry.query.phrases.catalogue import KINDS
from tapestry.run.execute import Subscription, execute, signature_groups
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect
from tests.spark.test_engine import ALL_READ, ROWS, snapshot_of

pytestmark = pytest.mark.spark

UNTIL = 10**12
NESTED_LOOPS = re.compile(r"BroadcastNestedLoopJoin|CartesianProduct")

JOINS = [
    "EXISTS (r: r.references = m.msgid)",
    "EXISTS (r: m.references = r.msgid AND NOT EXISTS (s: s.references = r.msgid))",
    "NOT EXISTS (r: m.references = r.msgid)",
    "NOT EXISTS (r: r.references = m.msgid OR r.inreplyto = m.msgid)",
    "COUNT(r: m.references = r.msgid) > 1",
    "COUNT(DISTINCT r.msgid: r.inreplyto = m.msgid OR r.references = m.msgid) >= 3",
    "SUM(r.size: r.references = m.msgid AND r.ts > now() - 1 day) > 5",
    "AVG(r.size: m.references = r.msgid AND EXISTS (s: s.references = r.msgid)) > 1",
    "m IN TOP 3 BY COUNT(r: r.references = m.msgid)",
]


class ExplainingEngine(SparkEngine):
    """Keeps the plan of each statement, and answers it with no rows."""

    def _query_until(self, deadline, sql, frames):
        views = [SubqueryAlias(frame._plan, name) for name, frame in frames.items()]
        frame = DataFrame(SQL(sql, [], {}, views), self.session)
        self.plans = [*getattr(self, "plans", ()), frame._explain_string("simple")]
        return pa.table({})


@pytest.fixture(scope="module")
def session(spark_server):
    session = connect(spark_server)
    yield session
    session.stop()


def nested_loops(plan):
    """Return the joins of a plan that compare all pairs of rows read from two tables."""
    lines = [(len(line) - len(line.lstrip(" :+-*")), line) for line in plan.splitlines()]
    joins = []
    for number, (depth, line) in enumerate(lines):
        if NESTED_LOOPS.search(line):
            below = list(takewhile(lambda other, top=depth: other[0] > top, lines[number + 1 :]))
            second = next(i for i, (inner, _) in enumerate(below) if i and inner == below[0][0])
            sides = below[:second], below[second:]
            if all(any("FileScan" in inner for _, inner in side) for side in sides):
                joins.append(line.strip(" :+-"))
    return joins


def plans_of(session, directory, text, strategies=("fast",)):
    engine = ExplainingEngine(session, snapshot_of(ROWS, directory), ALL_READ)
    context = Context("alice", ("alice@x.org",), lambda owner, name: "replies")
    for strategy in strategies:
        compiled = compile_filter(text, context, strategy)
        asked = Subscription(0, compiled, ("public", "user:alice"), BEGINNING)
        execute(engine, [asked], UNTIL, lambda pairs: set())
        evaluate(engine, lower_at(signature_groups([(asked, UNTIL)]), UNTIL))
    return engine.plans


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(kind.example, marks=[pytest.mark.long] if place % 3 else [])
        for place, kind in enumerate(KINDS.values())
    ],
)
def test_phrases_join_tables_by_equality(session, tmp_path, text):
    assert_no_nested_loops(plans_of(session, tmp_path, text))


@pytest.mark.parametrize("text", JOINS)
def test_sets_and_counts_join_tables_by_equality(session, tmp_path, text):
    assert_no_nested_loops(plans_of(session, tmp_path, text, ("fast", "general")))


def assert_no_nested_loops(plans):
    assert any("FileScan" in plan for plan in plans)
    assert [join for plan in plans for join in nested_loops(plan)] == []


@pytest.mark.parametrize("text", ["EXISTS (r: r.size > m.size)"])
def test_other_joins_compare_all_pairs_and_are_seen(session, tmp_path, text):
    assert any(map(nested_loops, plans_of(session, tmp_path, text)))
