"""Votes and tags that are taken back: each phrase about them, by every rule, and by the oracle."""

import pytest

from tapestry.core.clock import BEGINNING, DAY
from tapestry.plan.compile import compile_filter
from tapestry.plan.predicate_keys import predicate_keys
from tapestry.plan.signature import values_by_slot
from tapestry.plan.validity import groups_while_valid
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute_windows, signature_groups
from tests.laws import filter_laws
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.generators.random_worlds import World
from tests.support.oracle import queries as oracle

PUBLIC = ("public",)

PHRASES = [
    "voted for by terry",
    "not voted for by terry",
    "voted against by mary",
    "voted for by more than one person",
    "not voted for by more than one person",
    "with a score above one",
    "with a score below one",
    "among the top one by votes",
    "among the top one by votes this week",
    "not among the top one by votes",
    "tagged later",
    "not tagged later",
    "tagged later by terry",
    "annotated by terry",
    "not annotated by terry",
    "tagged later with no reply",
    "replied to but not tagged later",
    "voted for by terry or not tagged later",
]


def annotation(annid, ts, owner, kind, msgid="m", **content):
    return {"annid": annid, "ts": ts, "msgid": msgid, "owner": owner, "kind": kind} | content


def retraction(of, ts, owner, **content):
    return annotation(f"back-{of}-{ts}-{owner}", ts, owner, "retraction", value=of, **content)


STORY = {
    "messages": [
        {"msgid": "m", "ts": 1},
        {"msgid": "n", "ts": 2},
        {"msgid": "r", "ts": 9, "inreplyto": "m"},
    ],
    "annotations": [
        annotation("v1", 2, "terry", "vote", number=1.0),
        annotation("v2", 4, "mary", "vote", number=1.0),
        annotation("v3", 4, "mary", "vote", "n", number=-1.0),
        annotation("t1", 4, "terry", "tag", value="later"),
        annotation("t2", 2, "terry", "tag", "n", value="later"),
        retraction("v1", 6, "terry"),
        retraction("v1", 5, "mary"),  # not hers
        retraction("v2", 5, "mary", msgid="n"),  # another message
        retraction("v2", 5, "mary", audience="user:mary"),  # another audience
        retraction("t1", 7, "terry"),
        retraction("t2", 2, "terry"),  # it never stood
        annotation("v4", 8, "terry", "vote", number=1.0),
        retraction("v3", 9, "mary"),
        retraction("v4", 10, "terry"),
        retraction("back-v4-10-terry", 11, "terry"),  # a retraction stays
        retraction("v2", 12, "mary"),
        retraction("v2", 13, "mary"),
    ],
}
ENDS = (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 14)


def judge(text, data=STORY):
    return oracle.Oracle(read(text, Context()), data, PUBLIC)


@pytest.mark.parametrize("text", PHRASES)
@pytest.mark.parametrize(("schedule", "start"), [((5, 7, 14), None), ((6, 14), 4)])
def test_a_filter_keeps_what_matched_at_any_instant_once(text, schedule, start):
    world = World(read(text, Context()), STORY, PUBLIC, schedule, start)
    for strategy in ("fast", "general"):
        runs = [filter_laws.times(matches) for matches in filter_laws.run(world, strategy)]
        assert runs == filter_laws.expected(world)


@pytest.mark.parametrize("text", PHRASES)
def test_a_live_filter_lets_go_and_takes_again(text):
    oracle_of_text = judge(text)
    asked = Subscription(0, compile_filter(text, Context(), "general"), PUBLIC, BEGINNING)
    runs = change_windows(SqliteEngine(STORY), [asked], ENDS, net=False)
    held = set()
    for end, changes in zip(ENDS, runs, strict=True):
        for change in changes:
            (held.discard if change.op == "delete" else held.add)(change.msgid)
        assert held == oracle_of_text.answer(end)


def test_votes_that_are_taken_back_are_let_go_at_that_instant():
    asked = Subscription(
        0, compile_filter("voted for by terry", Context(), "general"), PUBLIC, BEGINNING
    )
    (changes,) = change_windows(SqliteEngine(STORY), [asked], [14], net=False)
    told = [(change.msgid, change.op, change.at) for change in changes]
    assert told == [
        ("m", op, at) for op, at in zip(["insert", "delete"] * 2, (2, 6, 8, 10), strict=True)
    ]


def test_not_tagged_begins_to_match_when_the_tag_is_taken_back():
    data = {
        "messages": [{"msgid": "m", "ts": 1}],
        "annotations": [
            annotation("t", 1, "terry", "tag", value="later"),
            retraction("t", 5, "terry"),
        ],
    }
    plan = compile_filter("not tagged later", Context())
    asked = [Subscription(0, plan, PUBLIC, BEGINNING)]
    runs = execute_windows(SqliteEngine(data), asked, [4, 6])
    assert [[(m.msgid, m.matched_at) for m in run] for run in runs] == [[], [("m", 5)]]


@pytest.mark.parametrize("text", PHRASES[::4])
def test_plans_are_those_of_before_where_nothing_is_taken_back(text):
    kept = [row for row in STORY["annotations"] if row["kind"] != "retraction"]
    engine = SqliteEngine(STORY | {"annotations": kept})
    asked = Subscription(0, compile_filter(text, Context()), PUBLIC, BEGINNING)
    groups = signature_groups([(asked, DAY)])
    assert all(
        given.disjunct is plain.disjunct
        for given, plain in zip(groups_while_valid(groups, engine.covers), groups, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "retracted"),
    [("tagged later", False), ("with a score above one", False), ("not tagged later", True)],
)
def test_only_what_must_not_exist_has_keys_of_retracted_rows(text, retracted):
    keys = {
        key.extractor
        for plan in compile_filter(text, Context()).plans
        for key in predicate_keys(plan.disjunct, values_by_slot(plan.signature.constants))
    }
    assert ("annotations.retracted is value" in keys) is retracted
    assert any("retracted" in key for key in keys) is retracted
