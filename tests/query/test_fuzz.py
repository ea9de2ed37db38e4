"""Whatever is written as a filter, it is refused with its place in the text, or becomes SQL."""

from __future__ import annotations

from contextlib import suppress
from zoneinfo import ZoneInfo

import pytest

from tapestry.core.errors import TapestryError
from tapestry.plan.compile import compile_query
from tapestry.plan.explain import explain
from tapestry.query.context import Context
from tapestry.query.frontend import read, write_out
from tapestry.query.limits import MAX_BYTES
from tapestry.query.tree.printer import print_sql
from tests.support.fuzzing import SECONDS, filter_seeds, fuzz, mutated
from tests.support.work import SECOND, counted

CALLS = 10 * SECOND
"""Calls that a filter may take until it is a plan."""

SHARED = "m.size > 1 OR EXISTS (r: r.inreplyto = m.msgid)"
DECAYED = (
    "AGGREGATE (x NUMBER) RETURNS NUMBER STATE (s NUMBER) INITIALIZE (x) ITERATE (s * 0.9 + x)"
)
"""What every name of a filter means, and every name of an aggregate."""

TERRY = Context(
    owner="terry",
    addresses=("terry@parc.com",),
    resolve=lambda _owner, name: DECAYED if name.endswith("()") else SHARED,
    now=1_774_000_000_000_000,
    zone=ZoneInfo("Europe/Berlin"),
)
TOKENS = [
    *(" ", "(", ")", ",", "'", '"', "“", "”", "''", ";", "--", "/*", "*/", "\n", "\0", "\ud800"),
    *("m", "r", "a", "m.", ".size", "m.body", "m.to", "r.ts", "a.number", "now()", "{", "}"),
    *(" AND ", " OR ", " NOT ", " IN ", " LIKE ", " HAS ", " BETWEEN ", " IS NULL", " = ", " <> "),
    *("EXISTS (r: ", "NOT EXISTS (r: ", "COUNT(r: ", "SUM(a.number IN annotations: ", " GROUP BY "),
    *("(SELECT m.msgid FROM messages m WHERE ", " ORDER BY COUNT(*) DESC LIMIT 3", " HAVING "),
    *("9223372036854775808", "1e400", "-1", "0", "1 week", "99999999 weeks", "INTERVAL '1' DAY"),
    *("TIMESTAMP '2026-03-29 02:30'", "TIMESTAMP '9999-12-31'", "TRUE", "NULL", "%", "_", "\\"),
    *("from ", "about ", "not ", " and ", "replies by ", "older than ", "within ", "top 3 "),
    *("two weeks", "at least 3 ", "me", "yesterday", "in filter ", "é", "e\u0301", "ſ", "İ", "👍"),
]  # fmt: skip
FILTERS = mutated(filter_seeds(), TOKENS)


def check_filter(text: str) -> None:
    with counted() as work:
        try:
            query = read(text, TERRY)
        except TapestryError as error:
            assert error.text == text
            assert error.span is not None
            assert 0 <= error.span.start <= error.span.end <= len(text), error.span
            assert error.message and error.render()
            return
        printed = []
        with suppress(TapestryError):
            printed += [write_out(query), print_sql(query)]
        try:
            for strategy in ("fast", "general"):
                compile_query(query, strategy)
            assert explain(text, TERRY)
        except TapestryError as error:
            assert error.message and error.render()
    assert work.calls < CALLS, work.calls
    for text_again in (form for form in printed if len(form.encode()) <= MAX_BYTES):
        assert read(text_again, Context()).condition == query.condition, text_again


def test_any_text_is_refused_with_its_place_or_becomes_a_plan():
    fuzz(FILTERS, check_filter)


@pytest.mark.long
def test_any_text_is_for_minutes():
    fuzz(FILTERS, check_filter, SECONDS)


@pytest.mark.parametrize(
    "text", ["ſ:x", "newer than 3 dayſ", "ſince monday", "older_than:5ſ", "ſize:5K"]
)
def test_letters_that_equal_others_in_capitals_are_read_or_refused(text):
    """The long s and the sign of kelvin match s and k where capitals do not count."""
    check_filter(text)


def test_an_operator_with_a_slip_is_refused_at_a_place_of_what_was_written():
    check_filter("sbject:) OR (from:x")
