"""What is added up, where rows leave, are alike, or make room for one that does not change."""

from __future__ import annotations

import pytest

from tapestry.core.clock import BEGINNING
from tapestry.plan.compile import compile_filter
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.oracle import queries as oracle

SECOND = 1_000_000
VOTES = "IN annotations: a.msgid = m.msgid"
LAST = "a.ts > now() - 10 seconds"


def message(name, ts=1):
    return {"msgid": name, "ts": ts * SECOND, "audience": "public"}


def vote(annid, msgid, ts, number=1.0, owner="x", audience="public"):
    return {"annid": annid, "msgid": msgid, "ts": ts * SECOND, "owner": owner, "kind": "vote",
            "number": number, "audience": audience}  # fmt: skip


def reply(name, parent, ts, size):
    return message(name, ts) | {"inreplyto": parent, "size": size}


def as_the_oracle_says(text, messages, votes, schedule):
    """Run a filter over the windows, by both rules, live too; hold each against the oracle."""
    data = {"messages": messages, "annotations": votes}
    schedule = [at * SECOND for at in schedule]
    query = read(text, Context())
    judge = oracle.Oracle(query, data, ("public",))
    wanted = judge.delivered(schedule)
    assert any(wanted), "a case in which nothing matches tells nothing"
    engine = SqliteEngine(data)
    for rule in ("fast", "general"):
        plan = compile_filter(text, Context(), rule)
        known, since = set(), BEGINNING
        for until, expected in zip(schedule, wanted, strict=True):
            asked = Subscription(0, plan, ("public",), since)
            matches = execute(engine, [asked], until, known.intersection)
            assert {m.msgid: m.matched_at for m in matches} == expected, (rule, until)
            known |= {(0, m.msgid) for m in matches}
            since = until
    answer, since = set(), BEGINNING
    for until in schedule:
        asked = Subscription(0, plan, ("public",), since)
        for change in change_windows(engine, [asked], [until], net=False)[0]:
            (answer.discard if change.op == "delete" else answer.add)(change.msgid)
        assert answer == judge.answer(until), until
        since = until


LOW = [vote("low", "m", 2, 1.0), vote("high", "m", 4, 5.0)]
SIZES = [reply("r1", "m", 2, 1), reply("r2", "m", 4, 5)]
EVERY = [[30], [3, 11, 12, 13, 14, 30], [5, 30], [12, 30]]

every_schedule = pytest.mark.parametrize("schedule", EVERY, ids=str)


@every_schedule
@pytest.mark.parametrize(
    "text",
    [
        f"MIN(a.number {VOTES} AND {LAST}) >= 5",  # when the lowest has left
        f"MIN(a.number {VOTES} AND {LAST}) > 1",
        "MIN(r.size: r.inreplyto = m.msgid AND r.ts > now() - 10 seconds) >= 5",
        "MAX(r.size: r.inreplyto = m.msgid AND r.ts > now() - 10 seconds) <= 1",
        "MIN(r.ts: r.inreplyto = m.msgid AND r.ts > now() - 10 seconds)"
        " > TIMESTAMP '1970-01-01 00:00:03'",
        f"COUNT(DISTINCT a.number {VOTES} AND {LAST}) = 1",
    ],
)
def test_a_least_value_that_leaves_makes_room_for_the_next(text, schedule):
    as_the_oracle_says(text, [message("m"), *SIZES], LOW, schedule)


def test_a_greatest_value_that_leaves_makes_room_for_the_next():
    votes = [vote("high", "m", 2, 5.0), vote("low", "m", 4, 1.0)]
    text = f"MAX(a.number {VOTES} AND {LAST}) <= 1"
    as_the_oracle_says(text, [message("m")], votes, [3, 30])


@pytest.mark.parametrize("function", ["MIN", "MAX"])
def test_a_rank_by_an_extreme_follows_what_leaves(function):
    messages = [message("m"), message("n"), *SIZES, reply("r3", "n", 4, 3)]
    inside = "r.inreplyto = m.msgid AND r.ts > now() - 10 seconds"
    text = f"m IN TOP 1 BY {function}(r.size: {inside})"
    for schedule in EVERY:
        as_the_oracle_says(text, messages, [], schedule)


ALIKE = [vote("v1", "m", 3), vote("v2", "m", 3)]
"""Two votes of one batch that say the same of a message: alike in all that is added up."""


@pytest.mark.parametrize("schedule", [[30], [2, 3, 30], [3, 13, 30]], ids=str)
@pytest.mark.parametrize(
    "text",
    [
        f"SUM(a.number {VOTES}) > 1",  # kept running
        f"COUNT(a {VOTES}) > 1",
        f"COUNT(a.number {VOTES}) = 2",
        f"COUNT(a {VOTES} AND {LAST}) = 2",  # and leave together
        f"SUM(a.number {VOTES} AND {LAST}) > 1",  # grouped: fractions
        f"SUM(a.number {VOTES} AND (a.kind = 'vote' OR a.owner = 'x')) > 1",
        f"SUM(a.number {VOTES} AND NOT EXISTS (b IN annotations: b.msgid = a.annid)) > 1",
        f"SUM(a.number {VOTES} AND EXISTS (r: r.msgid = a.msgid)) > 1",  # joined: told apart
        f"SUM(a.number {VOTES} AND ({LAST} OR EXISTS (r: r.msgid = a.annid))) > 1",
        "SUM(r.size: r.inreplyto = m.msgid AND r.ts > now() - 10 seconds) > 7",
        f"AVG(a.number {VOTES} AND {LAST}) = 1 AND COUNT(a {VOTES} AND {LAST}) > 1",
    ],
)
def test_rows_alike_in_all_that_is_added_up_count_each(text, schedule):
    replies = [reply("r1", "m", 3, 5), reply("r2", "m", 3, 5)]
    as_the_oracle_says(text, [message("m"), *replies], ALIKE, schedule)


def test_the_average_weighs_rows_that_are_alike():
    votes = [*ALIKE, vote("v3", "m", 3, -2.0)]
    as_the_oracle_says(f"AVG(a.number {VOTES} AND {LAST}) = 0", [message("m")], votes, [2, 30])


@pytest.mark.parametrize("function", ["COUNT(a", "SUM(a.number"])
@pytest.mark.parametrize("ages", ["", f" AND {LAST}"])
def test_a_rank_counts_rows_that_are_alike_each(function, ages):
    """m is first by its two votes of one instant, though n's one vote is earlier by name."""
    messages = [message("m"), message("a")]
    votes = [*ALIKE, vote("v3", "a", 3)]
    as_the_oracle_says(
        f"m IN TOP 1 BY {function} {VOTES}{ages})", messages, votes, [2, 3, 5, 12, 30]
    )


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_message_that_does_not_change_moves_up_into_the_last_place(limit):
    """The first, by votes that end, falls; each place is taken by one whose votes are older."""
    names = [f"s{n}" for n in range(limit + 2)]
    votes = [
        vote(f"{name}.{n}", name, 20, owner=f"o{n}")
        for number, name in enumerate(names)
        for n in range(9 - number)
    ]
    votes += [vote(f"f.{n}", "first", 2, owner=f"o{n}") for n in range(10)]
    text = f"m IN TOP {limit} BY COUNT(a {VOTES} AND a.ts > now() - 30 seconds)"
    messages = [message("first"), *map(message, names)]
    # In the window (25, 40] only ``first`` changes.
    as_the_oracle_says(text, messages, votes, [25, 40])


def test_a_message_that_does_not_change_is_first_again_where_another_is_voted_down():
    votes = [vote("u1", "up", 2, 3.0), vote("s1", "still", 2, 2.0), vote("t1", "third", 2, 1.0)]
    votes += [vote("u2", "up", 9, -2.5)]
    text = f"m IN TOP 1 BY SUM(a.number {VOTES})"
    as_the_oracle_says(text, [message(n) for n in ("up", "still", "third")], votes, [5, 30])
