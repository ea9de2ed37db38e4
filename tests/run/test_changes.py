"""The changes of live filters, replayed, give their answers: on random filters and by hand."""

import pytest

from tapestry.core.clock import BEGINNING
from tapestry.core.schema import Type
from tapestry.query.tree import nodes as n
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription
from tests.laws import change_laws, filter_laws
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.generators.random_worlds import World
from tests.support.generators.terms import column, integer, number
from tests.support.oracle import queries as oracle

by_name = pytest.mark.parametrize("law", change_laws.LAWS, ids=lambda law: law.__name__)
with_and_without_aggregates = pytest.mark.parametrize(
    "aggregates", (False, True), ids=("plain", "aggregates")
)


@by_name
@with_and_without_aggregates
def test_law_of_live_filters(law, aggregates):
    filter_laws.check(law, change_laws.LAWS[law], aggregates)


@pytest.mark.long
@by_name
@with_and_without_aggregates
def test_law_of_live_filters_in_a_long_campaign(law, aggregates):
    filter_laws.check(law, 150 * change_laws.LAWS[law], aggregates)


M, R, A = n.Binding("m", "messages"), n.Binding("r", "messages"), n.Binding("a", "annotations")
REPLY = n.Compare("=", column(R, "inreplyto"), column(M, "msgid"))
UNANSWERED = n.Not(n.Exists((R,), REPLY))
VOTE = n.Compare("=", column(A, "msgid"), column(M, "msgid"))
SCORE = n.Aggregate("SUM", False, column(A, "number"), (A,), VOTE, Type.NUMBER)
LIKED = n.Threshold(SCORE, ">", number(0.0))


def reported(condition, data, *schedule, net=False, since=BEGINNING):
    """Return (op, msgid, at) of every change, run after run."""
    query = n.CheckedQuery("m", condition, "")
    world = World(query, data, ("public",), schedule, None if since == BEGINNING else since)
    runs = change_laws.follow(world, oracle.Oracle(query, data, ("public",)), net)
    return [[(change.op, change.msgid, change.at) for change in run] for run in runs]


def table(messages, votes=()):
    """Messages (msgid, ts, inreplyto) and votes (msgid, ts, number), all public."""
    mail = [dict(zip(("msgid", "ts", "inreplyto"), row, strict=True)) for row in messages]
    notes = [dict(zip(("msgid", "ts", "number"), row, strict=True)) for row in votes]
    return {
        "messages": [row | {"audience": "public"} for row in mail],
        "annotations": [
            row | {"audience": "public", "annid": f"a{i}"} for i, row in enumerate(notes)
        ],
    }


QUESTION = table([("q", 1, None), ("r", 5, "q")])


def test_an_answer_takes_a_message_out_of_what_needs_one():
    assert reported(UNANSWERED, QUESTION, 3, 9) == [
        [("insert", "q", 1)],
        [("delete", "q", 5), ("insert", "r", 5)],
    ]


def test_what_came_and_went_within_a_run_leaves_no_net_change():
    assert reported(UNANSWERED, QUESTION, 9, net=True) == [[("insert", "r", 9)]]
    assert reported(UNANSWERED, QUESTION, 9) == [
        [("insert", "q", 1), ("delete", "q", 5), ("insert", "r", 5)]
    ]


def test_a_reply_in_the_batch_of_its_message_changes_nothing():
    assert reported(UNANSWERED, table([("q", 1, None), ("r", 1, "q")]), 1) == [[("insert", "r", 1)]]


def test_what_matched_at_the_start_is_not_reported_but_its_end_is():
    assert reported(UNANSWERED, QUESTION, 9, since=1) == [[("delete", "q", 5), ("insert", "r", 5)]]


def test_a_score_falls_and_rises():
    data = table([("q", 0, None)], [("q", 1, 1.0), ("q", 2, -1.0), ("q", 3, 0.5)])
    assert reported(LIKED, data, 9) == [
        [("insert", "q", 1), ("delete", "q", 2), ("insert", "q", 3)]
    ]
    assert reported(LIKED, data, 2, 9, net=True) == [[], [("insert", "q", 9)]]


def test_votes_of_one_instant_that_cancel_are_no_change():
    data = table([("q", 0, None)], [("q", 1, 1.0), ("q", 2, -1.0), ("q", 2, 1.0)])
    assert reported(LIKED, data, 9) == [[("insert", "q", 1)]]


def test_a_message_leaves_the_top_when_another_takes_its_place():
    x = n.Binding("x", "messages")
    votes = n.Compare("=", column(A, "msgid"), column(x, "msgid"))
    by = n.Aggregate("COUNT", False, None, (A,), votes, Type.INTEGER)
    top = n.Top(column(M, "msgid"), integer(1), x, by, n.Truth(True))
    data = table([("b", 0, None), ("a", 0, None)], [("b", 1, 1.0), ("a", 3, 1.0), ("b", 4, 1.0)])
    assert reported(top, data, 1, 3, 4) == [
        [("insert", "b", 1)],
        [("insert", "a", 3), ("delete", "b", 3)],
        [("delete", "a", 4), ("insert", "b", 4)],
    ]


def test_another_reply_is_an_update_where_it_is_the_evidence():
    data = table([("q", 0, None), ("s", 2, "q"), ("r", 5, "q")])
    query = n.CheckedQuery("m", n.Exists((R,), REPLY), "")
    asked = Subscription(0, filter_laws.compiled(query, "general"), ("public",), BEGINNING)
    reports = change_windows(SqliteEngine(data), [asked], [9], net=False)[0]
    assert [(change.op, change.msgid, change.at, change.evidence) for change in reports] == [
        ("insert", "q", 2, ("s",)),
        ("update", "q", 5, ("r",)),
    ]
