"""Threads are derived as messages are appended: late parents add facts, nothing is rewritten."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapestry.core.message import Message
from tapestry.core.schema import THREADS
from tapestry.query.tree import nodes as n
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import forget
from tapestry.tables.read import find
from tapestry.tables.read.originals import Original
from tapestry.tables.write import threads
from tapestry.tables.write.append import Cursor, advance_watermark, append_messages
from tapestry.tables.write.publish import publish
from tapestry.tables.write.staging import Staging
from tests.support.clocks import MemoryClock
from tests.support.faults.append_steps import acting_after
from tests.support.oracle.queries import Oracle

NAMES = [f"m{n}" for n in range(6)]


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


@pytest.fixture
def clock():
    return MemoryClock()


def facts(tables):
    return sorted(
        (row["msgid"], row["root"], row["ts"], row["audience"])
        for row in tables.open(THREADS).to_pyarrow_table().to_pylist()
    )


def judged(tables):
    """Return the facts that follow from all messages, by a recursive query."""
    rows = tables.open("messages").to_pyarrow_table().to_pylist()
    db = Oracle(n.CheckedQuery("m", n.Truth(True), ""), {"messages": rows}, ()).db
    return sorted(db.execute("SELECT msgid, root, ts, audience FROM threads"))


message = st.builds(
    Message,
    st.sampled_from(NAMES),
    inreplyto=st.sampled_from([None, *NAMES]),
    references=st.sampled_from([(), (), (), ("m0",), ("m1", "m0")]),
    received=st.sampled_from([None, 1, 2]),
    audience=st.sampled_from(["public", "public", "user:joe", "user:eve"]),
)
batches = st.lists(st.lists(message, max_size=4), max_size=5)


@settings(deadline=None, max_examples=40)
@given(batches, st.sampled_from([None, "committed"]), st.integers(0, 4))
def test_what_is_derived_is_the_least_fixpoint_wherever_an_append_dies(some, step, at):
    with TemporaryDirectory() as root:
        tables, clock = Tables(Path(root)), MemoryClock()
        for number, batch in enumerate(some):
            with acting_after(step if number == at else None, die, clock) as dying:
                try:
                    append_messages(tables, dying, batch)
                except KeyboardInterrupt:
                    advance_watermark(tables, clock)
        advance_watermark(tables, clock)
        assert facts(tables) == judged(tables)


def die():
    raise KeyboardInterrupt


def test_a_late_parent_joins_threads_once_and_a_leaf_costs_one_fact(tables, clock, monkeypatch):
    size = 300
    for root in ("a", "b"):
        below = [
            Message(f"{root}{n}", inreplyto=f"{root}{n // 2}", received=n) for n in range(1, size)
        ]
        append_messages(tables, clock, [Message(f"{root}0", inreplyto="late", received=0), *below])
    assert {root for _, root, *_ in facts(tables)} == {"late"}
    append_messages(tables, clock, [Message("late", inreplyto="first")])
    joined = facts(tables)
    assert len(joined) == 2 * 2 * size + 1
    assert {row[0] for row in joined if row[1] == "first"} == {row[0] for row in joined}
    append_messages(tables, clock, [Message("first")])
    assert len(facts(tables)) == len(joined) + 1, "all of them knew the name of their root"

    looked_up = []
    by_key = find.by_key

    def counted(*arguments):
        rows = by_key(*arguments)
        looked_up.append(rows.num_rows)
        return rows

    monkeypatch.setattr(threads, "by_key", counted)
    append_messages(tables, clock, [Message("leaf", inreplyto=f"a{size - 1}")])
    assert {row[1] for row in facts(tables) if row[0] == "leaf"} == {"late", "first"}
    assert sum(looked_up) == 2, "the facts about its parent, and nothing else"


def chain(first, size):
    """Return messages without References, each of which answers the one before."""
    return [Message(f"c{number}", inreplyto=f"c{number - 1}") for number in range(first, size)]


def test_a_late_parent_of_a_long_chain_is_joined_in_a_few_lookups(tables, clock, monkeypatch):
    append_messages(tables, clock, chain(1, 200))
    assert len(facts(tables)) == 199, "which of them came first in one append does not matter"
    calls = []
    by_key = find.by_key
    monkeypatch.setattr(threads, "by_key", lambda *a: calls.append(a) or by_key(*a))
    append_messages(tables, clock, [Message("c0", inreplyto="further")])
    assert {row[0] for row in facts(tables) if row[1] == "further"} == {f"c{n}" for n in range(200)}
    assert len(calls) <= 2 * threads.NEAR + 6


def test_a_chain_that_is_sent_backwards_costs_so_many_facts_each_at_most(
    tables, clock, monkeypatch
):
    monkeypatch.setattr(threads, "MOST_ROOTS", 5)
    for message in reversed(chain(0, 30)):
        append_messages(tables, clock, [message])
    by_message = Counter(row[0] for row in facts(tables))
    assert len(by_message) == 30
    assert max(by_message.values()) == 5
    assert {row[1] for row in facts(tables) if row[0] == "c29"} == {f"c{n}" for n in range(24, 29)}


@pytest.mark.parametrize(
    "meanwhile",
    [
        Message("other", inreplyto="elsewhere"),
        Message("late", inreplyto="first"),
        Message("below", inreplyto="b"),
        Message("further", inreplyto="waiting"),
    ],
)
def test_an_import_joins_what_comes_while_its_files_are_written(tables, clock, meanwhile):
    append_messages(tables, clock, [Message("waiting", inreplyto="b"), Message("known")])
    with Staging.opened(tables, "box", "public") as staging:
        for number, (name, parent) in enumerate([("a", "late"), ("b", "a"), ("c", "known")], 1):
            mail = [Message(name, inreplyto=parent, received=number)]
            staging.add(mail, [Original(b"x")], Cursor("box", number))
        receipt = publish(
            staging, clock, pause=lambda _: append_messages(tables, clock, [meanwhile])
        )
    assert receipt.added == 3
    assert facts(tables) == judged(tables)


def test_facts_go_with_the_messages_that_they_are_about(tables, clock):
    mine = {"audience": "user:joe"}
    append_messages(tables, clock, [Message("old", inreplyto="late", **mine)], now=lambda: 100)
    late = [Message("late", inreplyto="first", **mine), Message("new", inreplyto="old", **mine)]
    append_messages(tables, clock, late, now=lambda: 200)
    assert ("old", "first", 201, "user:joe") in facts(tables)
    forget(tables, clock, "user:joe", before=150)
    assert {row[0] for row in facts(tables)} == {"late", "new"}
    append_messages(tables, clock, [Message("newer", inreplyto="new", **mine)], now=lambda: 300)
    assert {row[1] for row in facts(tables) if row[0] == "newer"} == {"late", "first"}
    forget(tables, clock, "user:joe")
    assert facts(tables) == []
