"""The laws of SQLancer on a real Spark: a filter, its three parts, and without an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tapestry.core.clock import BEGINNING
from tapestry.core.errors import TapestryError
from tapestry.plan.compile import Compiled, compile_query
from tapestry.plan.engine import Engine
from tapestry.query.tree import nodes as n
from tapestry.run.execute import Subscription, execute_windows
from tapestry.spark.engine import SparkEngine
from tapestry.spark.session import connect
from tests.spark.test_engine import ALL_READ, ALL_SENT, AUDIENCES, LOOKED_UP, snapshot_of
from tests.suites.partitions import conditions, counted, parts, wrapped
from tests.support.generators import random_filters
from tests.support.generators import rows as generated_rows

pytestmark = [pytest.mark.spark, pytest.mark.long]

AT_ONCE = 10
"""Filters of an example: they are run together, as those of a window are."""

MOST_DELTA_QUERIES = {False: 20, True: 32}
"""Those of all forms of a filter, without counts and with them: they are what takes time."""

QUICK = {"deadline": None, "database": None, "phases": [Phase.generate]}


@pytest.fixture(scope="module")
def session(spark_server: str) -> Iterator[Any]:
    session = connect(spark_server)
    yield session
    session.stop()


def forms(query: n.CheckedQuery, cut: n.Condition, most: int) -> list[Compiled]:
    """Return the plans of a filter, of its three parts, and of two that no index can use.

    There are none if one of them is refused, or takes long.
    """
    condition = query.condition
    all_forms = [condition, *parts(condition, cut)]
    all_forms += [hidden(condition, "x") for hidden in (wrapped, counted)]
    try:
        plans = [compile_query(replace(query, condition=form)) for form in all_forms]
    except TapestryError:
        return []
    size = sum(len(plan.query.delta_queries) for plan in plans)
    return plans if 0 < size <= most else []


def delivered(
    engine: Engine, plans: list[Compiled], audiences: tuple[str, ...], instants: list[int]
) -> list[dict[str, int]]:
    """Return when each message matched, over all windows, for each plan."""
    asked = [Subscription(i, plan, audiences, BEGINNING) for i, plan in enumerate(plans)]
    found: list[dict[str, int]] = [{} for _ in plans]
    for matches in execute_windows(engine, asked, instants):
        for match in matches:
            found[match.filter_id][match.msgid] = match.matched_at
    return found


@pytest.mark.parametrize(
    ("examples", "aggregates"),
    [
        pytest.param(4, False, id="4"),
        pytest.param(200, False, id="200"),
        pytest.param(50, True, id="50 with counts"),
    ],
)
def test_laws_of_sqlancer_on_spark(
    session: Any, tmp_path_factory: pytest.TempPathFactory, examples: int, aggregates: bool
) -> None:
    ran: Counter[str] = Counter()
    most = MOST_DELTA_QUERIES[aggregates]
    pairs = st.tuples(
        random_filters.queries(depth=1, aggregates=aggregates), conditions(aggregates=aggregates)
    )

    @seed(19920602)
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), **QUICK)
    @given(
        generated_rows.data(crowded=aggregates),
        st.lists(pairs, min_size=AT_ONCE, max_size=AT_ONCE, unique_by=repr),
        st.sampled_from([AUDIENCES[:1], AUDIENCES]),
        st.sampled_from([ALL_SENT, LOOKED_UP, ALL_READ]),
    )
    def hold(data: Any, filters: Any, audiences: tuple[str, ...], limits: Any) -> None:
        asked = [plans for query, cut in filters if (plans := forms(query, cut, most))]
        stamps = sorted({row["ts"] for rows in data.values() for row in rows} | {0})
        instants = sorted({stamps[len(stamps) // 2], stamps[-1] + 10**12})
        engine = SparkEngine(session, snapshot_of(data, tmp_path_factory.mktemp("rows")), limits)
        found = iter(
            delivered(engine, [plan for plans in asked for plan in plans], audiences, instants)
        )
        for _plans in asked:
            whole, true, false, unknown, *hidden = (next(found) for _ in range(6))
            of_parts = [true, false, unknown]
            first = {
                msgid: min(part[msgid] for part in of_parts if msgid in part)
                for msgid in set().union(*of_parts)
            }
            assert whole == first
            assert hidden == [whole, whole]
            ran.update(filters=1, cut=len(false.keys() | unknown.keys()) if true else 0)

    hold()
    assert ran["filters"] >= (examples if aggregates else 3 * examples), ran
    assert ran["cut"], "no filter has found something in several parts"
