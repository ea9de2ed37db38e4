"""Why a message matches or not: each part is true when the oracle says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tapestry.core.clock import DAY, HOUR, SECOND, WEEK
from tapestry.core.message import Annotation, Message
from tapestry.query.context import Context
from tapestry.query.tree.printer import print_tql
from tapestry.run.ask import Question
from tapestry.run.why import AHEAD, Count, Part, parts_of, why
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages
from tests.laws import filter_laws
from tests.support.clocks import MemoryClock
from tests.support.engines.sqlite_engine import SqliteEngine, engine_of
from tests.support.generators import random_worlds
from tests.support.oracle import queries as oracle

T = 1_700_000_000 * SECOND


def _tree(part: Part) -> Iterator[Part]:
    yield part
    for inner in part.parts:
        yield from _tree(inner)


def _holds(part: Part, at: int) -> bool:
    return any(begin <= at and (end is None or at < end) for begin, end in part.spans)


def the_whole_is_what_the_oracle_says_and_what_its_parts_come_to(
    draw: st.DataObject, aggregates: bool
) -> None:
    world = draw.draw(random_worlds.worlds(depth=2, aggregates=aggregates))
    filter_laws.compiled(world.query, "general")  # or it is no filter
    judge = oracle.Oracle(world.query, world.data, world.audiences)
    seen = [row for row in world.data["messages"] if row["audience"] in world.audiences]
    if not seen or not world.schedule:
        return
    msgid = draw.draw(st.sampled_from(sorted({row["msgid"] for row in seen})))
    arrived = min(row["ts"] for row in seen if row["msgid"] == msgid)
    at = max(world.schedule[-1], arrived)
    text = print_tql(world.query)
    whole = parts_of(
        SqliteEngine(world.data), Question(text, Context(), world.audiences, at), msgid, arrived
    )
    for instant in {at, arrived, *judge.events}:
        if arrived <= instant < at + AHEAD:
            assert _holds(whole, instant) == (msgid in judge.answer(instant)), instant
            for part in _tree(whole):
                truths = [_holds(inner, instant) for inner in part.parts]
                if part.joint:
                    come_to = all(truths) if part.joint == "all" else any(truths)
                    assert _holds(part, instant) == come_to, (part.words, instant)
    for part in _tree(whole):
        assert part.holds == _holds(part, at)
        assert part.since <= at and (part.then is None or part.then > at)
        if part.then is not None:
            assert _holds(part, part.then) is not part.holds


@pytest.mark.parametrize("aggregates", [False, True], ids=("plain", "aggregates"))
def test_law_of_parts(aggregates: bool) -> None:
    filter_laws.check(the_whole_is_what_the_oracle_says_and_what_its_parts_come_to, 10, aggregates)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """A question of Jones, three votes for it after an hour, and Mary's answer after two."""
    tables, clock = Tables(tmp_path), MemoryClock()
    question = Message(
        "q", received=T - HOUR, sender="jones@x.org", sender_name="Jones", subject="lunch"
    )
    append_messages(tables, clock, [question], now=lambda: T)
    votes = [Annotation(f"v-{who}", "q", who, "vote", None, 1.0) for who in ("al", "bo", "cy")]
    hidden = Annotation("v-d", "q", "dan", "vote", None, 1.0, audience="user:dan")
    append_annotations(tables, clock, [*votes, hidden], now=lambda: T + HOUR)
    answer = Message("r", received=T + 2 * HOUR, inreplyto="q", sender="mary@x.org")
    append_messages(tables, clock, [answer], now=lambda: T + 2 * HOUR)
    return tables


def asked(tables: Tables, text: str, context: Context | None = None, *groups: str) -> Part:
    question = Question(text, context or Context(), ("public", *groups), T + DAY)
    part = why(engine_of(), tables, question, "q")
    assert part is not None
    return part


def test_it_says_what_is_false_since_when_and_until_when(tables: Tables) -> None:
    whole = asked(tables, "two weeks old with no reply")
    age, unanswered = whole.parts
    assert (whole.joint, whole.holds, whole.then) == ("all", False, None)
    assert (age.words, age.holds) == ("two weeks old", False)
    assert age.then == T - HOUR + 2 * WEEK + 1
    ((begin, end),) = unanswered.spans
    assert (unanswered.words, unanswered.then) == ("with no reply", None)
    assert (begin, end, unanswered.since) == (T + 1, T + 2 * HOUR + 1, end)


def test_alternatives_and_negations_are_told_apart(tables: Tables) -> None:
    whole = asked(tables, "not (from jones and about lunch) or larger than 3 KB")
    assert (whole.joint, whole.holds) == ("any", False)
    words = [part.words for part in _tree(whole) if not part.parts]
    assert words == ["not from jones", "not about lunch", "larger than three KB"]
    assert all(part.is_fixed for part in whole.parts)


def test_a_count_says_how_much_is_missing_and_only_what_the_asker_sees(tables: Tables) -> None:
    text = "voted for by more than 5 people"
    assert asked(tables, text).counted == Count(3, 6, "votes for", distinct=True)
    assert asked(tables, text, None, "user:dan").counted == Count(4, 6, "votes for", distinct=True)
    assert asked(tables, "voted for by more than 2 people").counted is None, "it is met"


def test_a_filter_of_somebody_else_is_one_part_by_its_name(tables: Tables) -> None:
    context = Context(
        "terry", resolve=lambda _owner, _name: "from mary", addresses_of=lambda _owner: ()
    )
    whole = asked(tables, "in mary's base and about lunch", context)
    assert [part.words for part in whole.parts] == ["m IN mary.base", "about lunch"]
    assert [(part.holds, part.is_fixed) for part in whole.parts] == [(False, False), (True, True)]


def test_a_message_that_is_not_seen_has_no_answer(tables: Tables) -> None:
    question = Question("TRUE", Context(), ("user:dan",), T + DAY)
    assert why(engine_of(), tables, question, "q") is None
