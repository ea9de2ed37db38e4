"""Which aggregates are kept running, and which ranks are swept; the others are worked out anew."""

import pytest

from tapestry.plan.compile import compile_filter
from tapestry.plan.lowering import running_aggregates
from tapestry.plan.lowering.lower import lower, lower_at
from tapestry.plan.lowering.top_k import can_sweep
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, signature_groups

VOTES = "IN annotations: a.msgid = m.msgid"
WEEK = "a.ts > now() - 1 week"
REPLIES = "r.inreplyto = m.msgid"


def disjunct(text):
    (only,) = compile_filter(text, Context()).query.normal.disjuncts
    return only


@pytest.mark.parametrize(
    "text",
    [
        f"COUNT(a {VOTES}) > 5",
        f"COUNT(a {VOTES} AND {WEEK}) > 5",
        f"COUNT(a {VOTES} AND {WEEK} AND a.ts < now() - 1 day) > 5",
        f"COUNT(DISTINCT a.owner {VOTES}) > 5",
        f"COUNT(DISTINCT a.owner {VOTES} AND {WEEK}) > 5",
        f"SUM(a.number {VOTES}) > 5",
        f"SUM(r.size: {REPLIES} AND r.ts > now() - 1 week) > 5",
        f"AVG(r.size: {REPLIES} AND r.ts > now() - 1 week) > 5",
        f"MIN(a.number {VOTES}) < 5",
        f"MAX(a.value {VOTES} AND a.ts < now() - 1 day) > 'x'",
    ],
)
def test_what_counts_over_one_interval_is_kept_running(text):
    (measured,) = disjunct(text).having_tests
    assert running_aggregates.can_run(measured.aggregate)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"SUM(a.number {VOTES} AND {WEEK}) > 5", "sums of fractions do not come back"),
        (f"AVG(a.number {VOTES} AND {WEEK}) > 5", "sums of fractions do not come back"),
        (f"MIN(a.number {VOTES} AND {WEEK}) < 5", "the next lowest would have to be known"),
        (f"SUM(DISTINCT a.number {VOTES}) > 5", "a value counts once"),
        (f"COUNT(a {VOTES} AND ({WEEK} OR a.value = m.msgid)) > 5", "two intervals"),
        (f"COUNT(r: {REPLIES} AND EXISTS (s: s.inreplyto = r.msgid)) > 5", "another row decides"),
        (f"COUNT(r: {REPLIES} AND COUNT(s: s.inreplyto = r.msgid) = 1) > 5", "other rows decide"),
    ],
)
def test_what_comes_and_goes_in_other_ways_is_not(text, why):
    (measured,) = disjunct(text).having_tests
    assert not running_aggregates.can_run(measured.aggregate), why


@pytest.mark.parametrize(
    ("text", "swept"),
    [
        (f"m IN TOP 10 BY COUNT(a {VOTES})", True),
        (f"m NOT IN TOP 10 BY COUNT(a {VOTES} AND {WEEK})", True),
        (f"m IN TOP 10 BY COUNT(a {VOTES}) AMONG m.ts > now() - 1 week", True),
        (f"m IN TOP 10 BY SUM(a.number {VOTES})", True),
        (f"m IN TOP 10 BY SUM(a.number {VOTES}) AMONG m.ts > now() - 1 week", True),
        (f"m IN TOP 10 BY AVG(a.number {VOTES} AND {WEEK})", True),
        (f"m IN TOP 10 BY SUM(DISTINCT a.number {VOTES} AND {WEEK})", False),
        (f"m IN TOP 10 BY MAX(a.number {VOTES} AND {WEEK})", False),
        (f"m IN TOP 10 BY MAX(a.value {VOTES})", False),
        (f"m IN TOP 10 BY COUNT(a {VOTES}) AMONG EXISTS (r: {REPLIES})", False),
    ],
)
def test_a_rank_is_swept_where_its_values_are_numbers_that_can_be_kept_running(text, swept):
    (top,) = disjunct(text).top_k_tests
    assert can_sweep(top) is swept
    asked = signature_groups(
        [(Subscription(0, compile_filter(text, Context()), ("public",), 0), 9)]
    )
    statement = lower(asked, 9, lambda *_: True)
    assert bool(statement.derived) is swept


@pytest.mark.parametrize(
    "text",
    [f"m IN TOP 10 BY COUNT(a {VOTES})", f"COUNT(DISTINCT a.owner {VOTES} AND {WEEK}) > 5"],
)
def test_what_is_asked_at_one_instant_is_worked_out_in_one_statement(text):
    asked = signature_groups(
        [(Subscription(0, compile_filter(text, Context()), ("public",), 0), 9)]
    )
    statement = lower_at(asked, 9)
    assert statement.derived == []
    assert " OVER (PARTITION BY `audiences`" not in statement.select.sql(dialect="spark")
