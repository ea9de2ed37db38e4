"""Every stage of a filter as it is shown, what its owner is warned of, and Spark's SQL."""

import json
import re

import pytest
import sqlglot

from tapestry.core.clock import DAY, WEEK
from tapestry.core.errors import TapestryError
from tapestry.plan.compile import compile_filter
from tapestry.plan.explain import explain
from tapestry.plan.lowering.lower import lower
from tapestry.query.context import Context
from tapestry.run.execute import Subscription, signature_groups
from tapestry.spark.dialect import FUNCTIONS, spark_sql
from tests.support.paths import FIXTURES

TERRY = Context("terry", ("terry@parc.com",))
NOW = 1000 * WEEK


def show_explanation(case):
    shown = explain(case.input, TERRY, case.args.get("rule", "fast")).as_dict()
    assert shown.pop("text") == case.input
    return json.dumps(shown, ensure_ascii=False, indent=2)


ALPHABET = re.compile(r"'[^'\s]{400,}'")
"""Letters that are translated."""


def show_spark(case):
    """Return a statement over the last day, with the names its views have in Spark."""
    asked = Subscription(0, compile_filter(case.input, TERRY), ("public", "user:terry"), NOW - DAY)
    statement = lower(signature_groups([(asked, NOW)]), NOW, lambda *_: True)
    names = {view.name: f"spark_{view.name}" for view in statement.views}
    names |= {relation.name: f"spark_{relation.name}" for relation in statement.relations}
    text = spark_sql(statement, names)
    parsed = sqlglot.parse_one(text, read="spark")
    assert {t.name for t in parsed.find_all(sqlglot.exp.Table)} >= set(names.values())
    assert not [f for f in parsed.find_all(sqlglot.exp.Anonymous) if f.name in FUNCTIONS]
    return ALPHABET.sub("'…'", parsed.sql(dialect="spark", pretty=True))


def test_every_stage_is_shown(datadriven):
    datadriven(FIXTURES / "plan" / "explain.test", show_explanation)


def test_statements_are_printed_in_the_sql_of_spark(datadriven):
    datadriven(FIXTURES / "plan" / "spark.test", show_spark)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m.ts > now()", "can never match"),
        ("m.subject = NULL", "can never match"),
        ("with no reply", "the moment it arrives"),
        ("from joe or unanswered", "the moment it arrives"),
        ("among the top ten by votes", "of all time"),
        ("not among the top ten by replies or from joe", "of all time"),
        ("m IN TOP 3 BY MAX(a.number IN annotations: a.msgid = m.msgid)", "of all time"),
    ],
)
def test_a_filter_that_says_what_nobody_means_is_warned_of(text, words):
    (warning,) = explain(text, TERRY).warnings
    assert words in warning


@pytest.mark.parametrize(
    "text",
    [
        "from joe",
        "two weeks old with no reply",
        "among the top ten by votes this week",
        "among the latest ten from joe",
        "m IN TOP 3 BY COUNT(r: r.inreplyto = m.msgid) AMONG m.received > now() - 3 days",
        "with no reply for two weeks",
        "m.ts > now() OR m.size > 1",
        "EXISTS (p: p.msgid = m.inreplyto) AND NOT EXISTS (r: r.inreplyto = m.msgid AND r.size < 0)"
        " AND now() > m.ts + 1 day",
    ],
)
def test_other_filters_are_not(text):
    assert explain(text, TERRY).warnings == ()


def test_the_general_rule_can_be_asked_for():
    shown = explain("from joe or two weeks old", TERRY, "general")
    assert {delta_query["rule"] for delta_query in shown.incremental} == {"general"}


def test_a_text_that_is_no_filter_is_refused_with_its_place():
    with pytest.raises(TapestryError, match="no column “subjct”") as caught:
        explain("m.subjct = 'x'", TERRY)
    assert caught.value.offset == 0
