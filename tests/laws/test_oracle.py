"""The oracle is judged too: by examples worked by hand, and by a second evaluator."""

import pytest
from hypothesis import strategies as st

from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tests.support.campaigns import campaigns
from tests.support.engines import nested_loops
from tests.support.generators import random_filters
from tests.support.generators import rows as generated_rows
from tests.support.generators.terms import column, integer, number, text
from tests.support.oracle import queries as oracle
from tests.support.oracle import values as oracle_values

M, R = n.Binding("m", "messages"), n.Binding("r", "messages")
PUBLIC = ("public",)
OLD = n.Compare("<", column(M, "ts"), n.Arith("-", n.Now(), n.Literal(2, Type.DURATION)))
REPLY = n.Compare("=", column(R, "inreplyto"), column(M, "msgid"))
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


A = n.Binding("a", "annotations")
EVERY = n.Truth(True)
ON_IT = n.Compare("=", column(A, "msgid"), column(M, "msgid"))
LATELY = n.Compare(
    ">",
    column(A, "ts"),
    n.Arith("-", n.Now(), n.Literal(3, Type.DURATION), Type.INSTANT),
)


def aggregate(function, name=None, distinct=False, condition=ON_IT):
    term = None if name is None else column(A, name)
    return n.Aggregate(function, distinct, term, (A,), condition, Type.NUMBER)


def voted(*votes):
    """Three messages, and votes (ts, msgid, owner, number)."""
    names = ("ts", "msgid", "owner", "number")
    notes = [dict(zip(names, vote, strict=True)) for vote in votes]
    return {
        "messages": [{"msgid": msgid, "ts": 0} for msgid in ("one", "two", "three")],
        "annotations": [{"annid": f"a{i}"} | note for i, note in enumerate(notes)],
    }


def answer_at(condition, data, t):
    query = n.CheckedQuery("m", condition, "")
    answer = oracle.answer(query, data, PUBLIC, t)
    assert answer == nested_loops.answer(query, data, PUBLIC, t)
    return answer


def test_votes_cancel_and_a_null_is_not_a_zero():
    data = voted((1, "one", "al", 1.0), (2, "one", "bo", -1.0), (3, "two", "al", None))
    zero = n.Threshold(aggregate("SUM", "number"), "=", number(0.0))
    assert [answer_at(zero, data, t) for t in (0, 1, 2, 3)] == [set(), set(), {"one"}, {"one"}]
    not_below_one = n.Not(n.Threshold(aggregate("SUM", "number"), "<", number(1.0)))
    assert [answer_at(not_below_one, data, t) for t in (0, 1, 2, 3)] == [
        set(),
        {"one"},
        set(),
        set(),
    ]


def test_people_count_once_and_messages_without_votes_count_none():
    data = voted((1, "one", "al", 1.0), (1, "one", "al", 1.0), (1, "two", "al", 1.0))
    data["annotations"].append({"annid": "a9", "ts": 2, "msgid": "two", "owner": "bo"})
    people = n.Threshold(aggregate("COUNT", "owner", True), ">=", integer(2))
    assert answer_at(people, data, 2) == {"two"}
    assert answer_at(n.Threshold(aggregate("COUNT"), ">=", integer(2)), data, 1) == {"one"}
    assert answer_at(n.Threshold(aggregate("COUNT"), "=", integer(0)), data, 1) == {"three"}


def test_a_window_empties_itself():
    lately = aggregate("COUNT", condition=n.And((ON_IT, LATELY)))
    query = n.CheckedQuery("m", n.Threshold(lately, "=", integer(1)), "")
    data = voted((1, "one", "al", 1.0), (2, "one", "al", 1.0))
    answers = {t: oracle.answer(query, data, PUBLIC, t) for t in (1, 2, 3, 4, 5)}
    assert answers == {1: {"one"}, 2: set(), 3: set(), 4: {"one"}, 5: set()}
    assert {1, 2, 4, 5} <= set(oracle.instants(data, query))


def test_ranks_are_by_value_then_by_msgid_and_only_for_what_counts():
    data = voted((1, "two", "al", 1.0), (2, "one", "al", 1.0), (3, "three", "al", None))
    x = n.Binding("x", "messages")
    votes = n.Compare("=", column(A, "msgid"), column(x, "msgid"))

    def top(limit, function, among=EVERY):
        by = aggregate(function, "number", condition=votes)
        return n.Top(column(M, "msgid"), integer(limit), x, by, among)

    assert [answer_at(top(1, "SUM"), data, t) for t in (0, 1, 2)] == [set(), {"two"}, {"one"}]
    assert answer_at(top(3, "COUNT"), data, 3) == {"one", "two"}
    assert answer_at(n.Not(top(3, "SUM")), data, 3) == {"three"}
    but_one = n.Compare("<>", column(x, "msgid"), text("one"))
    assert answer_at(top(1, "MAX", but_one), data, 3) == {"two"}


def test_a_message_of_two_audiences_has_one_rank():
    data = voted((1, "two", "al", 1.0), (2, "two", "bo", 1.0), (2, "three", "bo", 1.0))
    data["messages"].append({"msgid": "two", "ts": 0, "audience": "user:bob"})
    x = n.Binding("x", "messages")
    votes = n.Compare("=", column(A, "msgid"), column(x, "msgid"))
    by = aggregate("COUNT", condition=votes)
    top = n.Top(column(M, "msgid"), integer(2), x, by, n.Truth(True))
    for judge in (oracle, nested_loops):
        audiences = ("public", "user:bob")
        assert judge.answer(n.CheckedQuery("m", top, ""), data, audiences, 2) == {"two", "three"}


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
    assert oracle_values.like(value, pattern) is expected


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
    assert oracle_values.has(value, wanted) is expected


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
    to = column(M, "to")
    compare = n.Compare(op, to, n.Literal(value, Type.TEXT))
    for condition, wanted in ((compare, expected is True), (n.Not(compare), expected is False)):
        query = n.CheckedQuery("m", condition, "")
        assert oracle.answer(query, data, PUBLIC, 0) == ({"x"} if wanted else set())


@campaigns(
    30,
    100,
    random_filters.queries(),
    generated_rows.data(),
    generated_rows.audiences,
    st.integers(-2, 40),
)
def test_sql_and_loops_agree(query, data, audiences, t):
    assert oracle.answer(query, data, audiences, t) == nested_loops.answer(
        query, data, audiences, t
    )


@campaigns(
    100,
    300,
    random_filters.queries(depth=2, aggregates=True),
    generated_rows.data(crowded=True),
    generated_rows.audiences,
    st.integers(-2, 40),
)
def test_sql_and_loops_agree_on_aggregates_and_ranks(query, data, audiences, t):
    assert oracle.answer(query, data, audiences, t) == nested_loops.answer(
        query, data, audiences, t
    )


@campaigns(
    30,
    100,
    random_filters.queries(depth=2, aggregates=True),
    generated_rows.data(crowded=True),
    generated_rows.audiences,
)
def test_no_aggregate_changes_between_two_instants(query, data, audiences):
    judge = oracle.Oracle(query, data, audiences)
    last_answer = judge.answer(-20)
    for t in range(-19, 60):
        if t not in judge.events:
            assert judge.answer(t) == last_answer
        last_answer = judge.answer(t)


@campaigns(30, 100, random_filters.queries(), generated_rows.data(), generated_rows.audiences)
def test_no_answer_changes_between_two_instants(query, data, audiences):
    judge = oracle.Oracle(query, data, audiences)
    first = {}
    for t in range(-20, 60):
        for msgid in judge.answer(t):
            first.setdefault(msgid, t)
    assert judge.ever(59) == first


@campaigns(30, 100, st.data())
def test_runs_deliver_what_their_windows_hold_by_definition(draw):
    query, data = draw.draw(random_filters.queries()), draw.draw(generated_rows.data())
    audiences = draw.draw(generated_rows.audiences)
    judge = oracle.Oracle(query, data, audiences)
    schedule = draw.draw(generated_rows.schedules(tuple(judge.events)))
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
