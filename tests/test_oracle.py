"""The oracle is judged too: by examples worked by hand, and by a second evaluator."""

import generate
import loops
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapestry.core.schema import Type
from tapestry.query import nodes as n

M, R = n.Binding("m", "messages"), n.Binding("r", "messages")
PUBLIC = ("public",)
OLD = n.Compare("<", generate.column(M, "ts"), n.Arith("-", n.Now(), n.Literal(2, Type.DURATION)))
REPLY = n.Compare("=", generate.column(R, "inreplyto"), generate.column(M, "msgid"))
OLD_UNANSWERED = n.CheckedQuery("m", n.And((OLD, n.Not(n.Exists((R,), REPLY)))), "")
FIRST_AND_SECOND = {
    "messages": [
        {"msgid": "one", "ts": 10},
        {"msgid": "two", "ts": 11, "inreplyto": "one", "audience": "user:bob"},
        {"msgid": "three", "ts": 13, "inreplyto": "two"},
    ],
    "annotations": [],
}


def test_a_message_matches_as_soon_as_it_is_old_and_for_as_long_as_nobody_answers():
    everybody = ("public", "user:bob")
    assert oracle.ever(OLD_UNANSWERED, FIRST_AND_SECOND, everybody, 99) == {"three": 16}
    assert oracle.answer(OLD_UNANSWERED, FIRST_AND_SECOND, everybody, 15) == set()


def test_rows_of_other_audiences_do_not_exist():
    assert oracle.ever(OLD_UNANSWERED, FIRST_AND_SECOND, PUBLIC, 99) == {"one": 13, "three": 16}


def test_runs_partition_what_is_ever_matched():
    runs = oracle.delivered(OLD_UNANSWERED, FIRST_AND_SECOND, PUBLIC, [12, 13, 15, 20])
    assert runs == [{}, {"one": 13}, {}, {"three": 16}]


def test_from_now_on_leaves_out_what_matches_at_the_start():
    runs = oracle.delivered(OLD_UNANSWERED, FIRST_AND_SECOND, PUBLIC, [14, 20], start=13)
    assert runs == [{}, {"three": 16}]


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("a%", "Äb", False),
        ("ä%", "Äb", True),
        ("100\\%", "100%", True),
        ("100\\%", "1000", False),
        ("a\\_b", "axb", False),
        ("a_b", "a\nb", True),
        ("%", "", True),
        ("a.c", "abc", False),
        ("%", None, None),
    ],
)
def test_like_ignores_case_and_escapes(pattern, value, expected):
    assert oracle.like(value, pattern) is expected


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        ("Re: the Spark-index, 2", "spark INDEX", True),
        ("spark and index", "spark index", False),
        ("sparkindex", "spark", False),
        ("a_b", "b", True),
        ("Grüße", "grüße", True),
        (None, "x", None),
    ],
)
def test_has_finds_adjacent_words(value, wanted, expected):
    assert oracle.has(value, wanted) is expected


@pytest.mark.parametrize(
    ("elements", "op", "value", "expected"),
    [
        ((), "=", None, False),
        (("a",), "=", None, None),
        (("a", "b"), "=", "b", True),
        (("a", "b"), "<>", "b", True),
        (("b",), "<>", "b", False),
    ],
)
def test_a_set_compares_as_sql_any(elements, op, value, expected):
    data = {"messages": [{"msgid": "x", "ts": 0, "to": elements}], "annotations": []}
    to = generate.column(M, "to")
    compare = n.Compare(op, to, n.Literal(value, Type.TEXT))
    for condition, wanted in ((compare, expected is True), (n.Not(compare), expected is False)):
        query = n.CheckedQuery("m", condition, "")
        assert oracle.answer(query, data, PUBLIC, 0) == ({"x"} if wanted else set())


@settings(deadline=None)
@given(generate.queries(), generate.data(), generate.audiences, st.integers(-2, 40))
def test_sql_and_loops_agree(query, data, audiences, t):
    assert oracle.answer(query, data, audiences, t) == loops.answer(query, data, audiences, t)


@settings(deadline=None)
@given(generate.queries(), generate.data(), generate.audiences)
def test_no_answer_changes_between_two_instants(query, data, audiences):
    judge = oracle.Oracle(query, data, audiences)
    first = {}
    for t in range(-20, 60):
        for msgid in judge.answer(t):
            first.setdefault(msgid, t)
    assert judge.ever(59) == first


@settings(deadline=None)
@given(st.data())
def test_runs_deliver_what_their_windows_hold_by_definition(draw):
    query, data = draw.draw(generate.queries()), draw.draw(generate.data())
    audiences = draw.draw(generate.audiences)
    judge = oracle.Oracle(query, data, audiences)
    schedule = draw.draw(generate.schedules(tuple(judge.events)))
    start = draw.draw(st.one_of(st.none(), st.integers(schedule[0] - 9, schedule[0])))
    since = -100 if start is None else start
    seen = set() if start is None else judge.answer(start)
    for until, run in zip(schedule, judge.delivered(schedule, start), strict=True):
        expected = {}
        for t in range(since + 1, until + 1):
            for msgid in judge.answer(t) - seen:
                expected[msgid] = t
                seen.add(msgid)
        assert run == expected
        since = until
