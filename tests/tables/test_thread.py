"""Threads: up to the start, down to every reply, never past what the reader may see."""

from __future__ import annotations

import pytest
from support.clocks import MemoryClock

from tapestry.core.message import Message
from tapestry.tables.append import append_messages
from tapestry.tables.log import Tables
from tapestry.tables.thread import LARGEST, thread

PUBLIC = ("public",)


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
    replies = [Message(f"r{n}", inreplyto="a") for n in range(LARGEST + 50)]
    append_messages(tables, MemoryClock(), [Message("a"), *replies])
    assert len(thread(tables, "a", PUBLIC)) == LARGEST
