"""Threads: up to the start, down to every reply, never past what the reader may see."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from tapestry.core.message import Message
from tapestry.query.context import Context
from tapestry.run.ask import Question, ask
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import lookup
from tapestry.tables.read.thread import DEEPEST, HIGHEST, LARGEST, thread
from tapestry.tables.write.append import append_messages
from tests.support.campaigns import campaigns
from tests.support.clocks import MemoryClock
from tests.support.engines.sqlite_engine import SqliteEngine

PUBLIC = ("public",)
NAMES = [f"m{n}" for n in range(6)]


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path)


def append(tables, *messages):
    clock = MemoryClock()
    for message in messages:
        append_messages(tables, clock, [message])


def shape(entries):
    return [(entry.depth, entry.card.msgid) for entry in entries]


@pytest.mark.parametrize("asked", ["a", "b", "c", "d"])
def test_every_message_of_a_thread_shows_all_of_it_in_reading_order(tables, asked):
    append(
        tables,
        Message("a", subject="Start"),
        Message("b", inreplyto="a", references=("a",)),
        Message("c", inreplyto="a"),
        Message("d", inreplyto="b", references=("a", "b")),
        Message("unrelated"),
    )
    assert shape(thread(tables, asked, PUBLIC)) == [(0, "a"), (1, "b"), (2, "d"), (1, "c")]
    assert thread(tables, asked, PUBLIC)[0].card.subject == "Start"


def test_a_thread_whose_start_is_not_here_begins_with_what_is(tables):
    append(tables, Message("b", inreplyto="lost"), Message("c", inreplyto="b"))
    assert shape(thread(tables, "c", PUBLIC)) == [(0, "b"), (1, "c")]
    assert thread(tables, "lost", PUBLIC) == []


def test_a_private_message_neither_shows_nor_links_what_is_around_it(tables):
    append(
        tables,
        Message("a"),
        Message("b", inreplyto="a", audience="user:joe"),
        Message("c", inreplyto="b"),
    )
    assert shape(thread(tables, "c", PUBLIC)) == [(0, "c")]
    assert shape(thread(tables, "a", PUBLIC)) == [(0, "a")]
    assert thread(tables, "b", PUBLIC) == []
    seen = thread(tables, "c", ("public", "user:joe"))
    assert shape(seen) == [(0, "a"), (1, "b"), (2, "c")]


def test_a_message_of_two_audiences_stands_once(tables):
    append(tables, Message("a"), Message("a", audience="user:joe"), Message("b", inreplyto="a"))
    assert shape(thread(tables, "b", ("public", "user:joe"))) == [(0, "a"), (1, "b")]


def test_cycles_end(tables):
    append(tables, Message("a", inreplyto="b"), Message("b", inreplyto="a"))
    assert {msgid for _depth, msgid in shape(thread(tables, "a", PUBLIC))} == {"a", "b"}
    append(tables, Message("self", inreplyto="self"))
    assert shape(thread(tables, "self", PUBLIC)) == [(0, "self")]


def test_a_huge_thread_is_cut(tables):
    replies = [Message(f"r{n:04}", inreplyto="a") for n in range(LARGEST + 50)]
    append_messages(tables, MemoryClock(), [Message("a"), *replies])
    entries = thread(tables, "a", PUBLIC)
    assert len(entries) == LARGEST and entries[0].goes_on
    last = thread(tables, f"r{LARGEST + 49}", PUBLIC)
    assert f"r{LARGEST + 49}" in [entry.card.msgid for entry in last], "a message is in its thread"


@pytest.fixture
def lookups(monkeypatch):
    """The columns by which rows have been looked up."""
    made = []

    def count(tables, table, column, *rest):
        made.append(column)
        return lookup(tables, table, column, *rest)

    monkeypatch.setattr("tapestry.tables.read.thread.lookup", count)
    return made


def chain(tables, length, *, has_references):
    names = [f"c{n:03}" for n in range(length)]
    append_messages(tables, MemoryClock(), [
        Message(
            name,
            inreplyto=names[n - 1] if n else None,
            references=tuple(names[:n]) if has_references else (),
        )
        for n, name in enumerate(names)
    ])  # fmt: skip
    return names


def test_a_deep_thread_with_references_takes_few_lookups(tables, lookups):
    names = chain(tables, 500, has_references=True)
    entries = thread(tables, names[-1], PUBLIC)
    assert shape(entries) == list(enumerate(names)) and not any(entry.goes_on for entry in entries)
    assert lookups == ["msgid", "msgid", "inreplyto"]


@pytest.mark.parametrize("has_references", [True, False])
@pytest.mark.parametrize("at", [0, 250, 499])
def test_a_deep_thread_ends_in_words_after_so_many_lookups(tables, lookups, at, has_references):
    names = chain(tables, 500, has_references=has_references)
    entries = thread(tables, names[at], PUBLIC)
    assert lookups.count("msgid") <= HIGHEST + 1 and lookups.count("inreplyto") <= DEEPEST + 1
    shown = [entry.card.msgid for entry in entries]
    first, last = names.index(shown[0]), names.index(shown[-1])
    assert shown == names[first : last + 1] and first <= at <= last
    assert first == (0 if has_references else max(0, at - HIGHEST))
    assert last == min(499, at + DEEPEST)
    assert [entry.card.msgid for entry in entries if entry.goes_on] == names[last:499][:1]
    assert (entries[0].parent is not None) == (first > 0), "what is above is not forgotten either"


def starting(tables):
    rows = tables.open("messages").to_pyarrow_table().to_pylist()
    question = Question("starting a thread", Context(), PUBLIC, 2**60)
    answer = ask(lambda _snapshot: SqliteEngine({"messages": rows}), tables, question)
    return {card.msgid for card in answer.cards}


@campaigns(
    10,
    25,
    parents=st.lists(st.sampled_from([*NAMES, "missing", None]), min_size=6, max_size=6),
    order=st.permutations(range(6)),
    private=st.sets(st.integers(0, 5), max_size=2),
)
def test_each_message_stands_in_one_thread_and_starts_it_if_it_answers_nothing(
    tmp_path_factory, parents, order, private
):
    """Replies before their parents, missing and private parents, and loops among them."""
    tables, clock = Tables(tmp_path_factory.mktemp("threads")), MemoryClock()
    for n in order:
        audience = "user:joe" if n in private else "public"
        append_messages(tables, clock, [Message(NAMES[n], inreplyto=parents[n], audience=audience)])
    started = starting(tables)
    for n in set(range(6)) - private:
        entries = thread(tables, NAMES[n], PUBLIC)
        shown = [entry.card.msgid for entry in entries]
        assert shown.count(NAMES[n]) == 1
        assert len(set(shown)) == len(shown)
        assert not {NAMES[hidden] for hidden in private} & set(shown)
        assert (entries[0].parent is None) == (shown[0] in started)
        assert all(entry.parent is not None for entry in entries[1:])
        assert (NAMES[n] in started) == (shown[0] == NAMES[n] and parents[n] is None)
