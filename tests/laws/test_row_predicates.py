"""A condition on one row holds in Python exactly if the oracle says so."""

from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.schema import COLUMNS, MESSAGES
from tapestry.plan.row_predicates import holds
from tests.support.engines import nested_loops
from tests.support.generators.random_filters import queries
from tests.support.generators.rows import LAST, messages
from tests.support.oracle.values import cell


@given(queries(depth=0), messages(tuple(range(4)), fewest=(3,)), st.integers(0, LAST + 8))
def test_a_condition_without_subqueries(query, rows, now):
    for row in rows:
        read = {name: cell(row, name, kind) for name, kind in COLUMNS[MESSAGES].items()}
        judged = nested_loops.holds(query.condition, {query.var: row}, {}, now)
        assert holds(query.condition, read, now) is judged
