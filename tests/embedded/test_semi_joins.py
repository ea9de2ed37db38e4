"""Tables of which a SELECT gives nothing are tested by EXISTS, where that makes no product."""

import pytest
from sqlglot import exp, parse_one

from tapestry.embedded.semi_joins import semi_joined

SELECT = "SELECT {} FROM k CROSS JOIN m CROSS JOIN x CROSS JOIN y WHERE {}"


@pytest.mark.parametrize(
    ("given", "tests", "expected"),
    [
        (
            "k.p0, m.a",
            "x.a = m.a AND x.b < m.b AND (y.a = m.a AND y.b < x.b) AND m.c = k.p0",
            "SELECT k.p0, m.a FROM k CROSS JOIN m WHERE m.c = k.p0 AND EXISTS(SELECT 1 FROM x "
            "CROSS JOIN y WHERE x.a = m.a AND x.b < m.b AND y.a = m.a AND y.b < x.b)",
        ),
        (
            "m.a, y.a",
            "x.a <> m.a AND m.a = y.a AND x.b <= y.b",
            "SELECT m.a, y.a FROM k CROSS JOIN m CROSS JOIN y WHERE m.a = y.a "
            "AND EXISTS(SELECT 1 FROM x WHERE x.a <> m.a AND x.b <= y.b)",
        ),
        (
            "m.a",
            "x.a = m.a AND y.a <> m.b OR m.b = 1",
            "SELECT m.a FROM k CROSS JOIN m WHERE EXISTS(SELECT 1 FROM x CROSS JOIN y "
            "WHERE x.a = m.a AND y.a <> m.b OR m.b = 1)",
        ),
    ],
    ids=["two that are tied", "one that is not tied", "two of one test"],
)
def test_a_table_that_gives_nothing_is_a_semi_join(given, tests, expected):
    select = parse_one(SELECT.format(given, tests), into=exp.Select)
    assert semi_joined(select).sql() == expected


def test_rows_that_are_grouped_are_joined_as_they_are():
    select = parse_one(SELECT.format("m.a", "x.a = m.a AND y.a = m.a") + " GROUP BY m.a")
    assert semi_joined(select.copy()) == select


@pytest.mark.parametrize(
    ("given", "tests"),
    [("m.a, y.a", "m.a = x.a AND x.b = y.b"), ("m.a, x.a, y.a", "m.a = x.a")],
    ids=["it ties two others", "all give something"],
)
def test_what_is_needed_to_join_others_stays(given, tests):
    select = parse_one(SELECT.format(given, tests), into=exp.Select)
    assert semi_joined(select).sql() == SELECT.format(given, tests)
